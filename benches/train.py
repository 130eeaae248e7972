"""What `make bench-train` runs: macrok's estimators against other programs', on the data sets beside the project.

Each comparison is a file under `training/` with a TITLE and a `report(data set, threads, say)`; its tables go into
docs/results.md, between markers of its own. Times are wall and CPU seconds of whole commands, in one run on the same cores.
"""

import argparse
import importlib
import os
from pathlib import Path

from harness import machine
from harness.document import replace_section
from training import sets

COMPARISONS = ("against_napkinxc", "networks", "end_to_end")


def typed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--macrok", type=Path, required=True, help="the program")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where the data sets are")
    parser.add_argument("--folder", type=Path, default=Path("bench/train"), help="where files are made and kept")
    parser.add_argument("--out", type=Path, default=Path("docs/results.md"), help="the file to write to")
    parser.add_argument("--sets", nargs="+", choices=sets.NAMES, default=sets.NAMES)
    parser.add_argument("--only", nargs="+", choices=COMPARISONS, default=COMPARISONS)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def say(text: str) -> None:
    """At once, also into a log file."""
    print(text, flush=True)


def main() -> None:
    arguments = typed()
    program = arguments.macrok.resolve(strict=True)
    found = [sets.find(name, arguments.data, arguments.folder, program) for name in arguments.sets]
    found = [data for data in found if data]
    if not found:
        say(f"SKIPPED: no data set in {arguments.data}")
        return
    # Before anything runs: the load of the machine is that of others.
    facts = machine.facts() | {"command": os.environ.get("BENCH_COMMAND", "benches/train.py")}
    facts["threads"] = str(arguments.threads)
    for name in arguments.only:
        comparison = importlib.import_module(f"training.{name}")
        parts = [f"## {comparison.TITLE}", "\n".join(f"- {fact}: {value}" for fact, value in facts.items())]
        for data in found:
            say(f"{name}: {data.name}")
            parts.append(comparison.report(data, arguments.threads, say))
        text = "\n\n".join(part for part in parts if part)
        replace_section(arguments.out, f"make bench-train: {comparison.TITLE}", text)
        say(text)
    say(f"\nwrote {arguments.out}")


if __name__ == "__main__":
    main()
