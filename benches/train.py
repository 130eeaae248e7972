"""Runs `make bench-train`: compares macrok's estimators with other programs, on the data sets in ../shared/data.

Each comparison is a file under `training/` with a TITLE and a `report(data set, threads, log)`; its tables go into
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


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--macrok", type=Path, required=True, help="the program")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where the data sets are")
    parser.add_argument("--folder", type=Path, default=Path("bench/train"), help="where files are made and kept")
    parser.add_argument("--out", type=Path, default=Path("docs/results.md"), help="the file to write to")
    parser.add_argument("--sets", nargs="+", choices=sets.NAMES, default=sets.NAMES)
    parser.add_argument("--only", nargs="+", choices=COMPARISONS, default=COMPARISONS)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def log(text: str) -> None:
    """Print without buffering, so that log files are current."""
    print(text, flush=True)


def main() -> None:
    arguments = parse_arguments()
    program = arguments.macrok.resolve(strict=True)
    found = [sets.find(name, arguments.data, arguments.folder, program) for name in arguments.sets]
    found = [data for data in found if data]
    if not found:
        log(f"SKIPPED: no data set in {arguments.data}")
        return
    # Measured before anything runs, so that only the load of others counts.
    facts = machine.facts() | {"command": os.environ.get("BENCH_COMMAND", "benches/train.py")}
    facts["threads"] = str(arguments.threads)
    for name in arguments.only:
        comparison = importlib.import_module(f"training.{name}")
        parts = [f"## {comparison.TITLE}", "\n".join(f"- {fact}: {value}" for fact, value in facts.items())]
        for data in found:
            log(f"{name}: {data.name}")
            parts.append(comparison.report(data, arguments.threads, log))
        text = "\n\n".join(part for part in parts if part)
        replace_section(arguments.out, f"make bench-train: {comparison.TITLE}", text)
        log(text)
    log(f"\nwrote {arguments.out}")


if __name__ == "__main__":
    main()
