"""What `make bench` runs: macrok against xcolumns and against the machine, on data made by `macrok synth`.

Prints its tables and puts them into a file, between markers of the size that was measured. Every time is wall
time; every figure is that of the fastest of several runs, which take turns; the spread is how much slower the
slowest was. docs/performance.md says how to read them.
"""

import argparse
import os
from pathlib import Path

from harness import machine, targets
from harness.checkpoints import Checkpoints
from harness.document import replace_section
from harness.growth import Growth
from harness.side_by_side import SideBySide
from harness.sizes import SIZES


def typed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--macrok", type=Path, required=True, help="the program")
    parser.add_argument("--size", choices=SIZES, default="S")
    parser.add_argument("--folder", type=Path, default=Path("bench"), help="where data is made and kept")
    parser.add_argument("--out", type=Path, default=Path("docs/performance.md"), help="the file to write to")
    parser.add_argument("--bandwidth", default="", help="the command that prints benches/bandwidth.rs's JSON")
    parser.add_argument("--no-growth", action="store_true", help="only the comparison")
    return parser.parse_args()


def say(text: str) -> None:
    """At once, also into a log file."""
    print(text, flush=True)


def main() -> None:
    arguments = typed()
    size = SIZES[arguments.size]
    program = arguments.macrok.resolve(strict=True)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    # Before anything runs: the load of the machine is that of others.
    facts = machine.facts() | {"command": os.environ.get("BENCH_COMMAND", f"compare.py --size {arguments.size}")}

    say(f"size {arguments.size}: comparing with xcolumns")
    compared = SideBySide(size, program, arguments.folder, arguments.bandwidth)
    compared.measure(say)
    parts = [
        f"## BENCH_SIZE={arguments.size}",
        "\n".join(f"- {name}: {value}" for name, value in facts.items()),
        "### One iteration, one command",
        compared.report(),
    ]
    say("\n\n".join(parts[1:]))
    growth = Growth(size, program, arguments.folder, compared.path)
    if not arguments.no_growth:
        say("\nmeasuring growth")
        grown = ["### Growth", growth.report(say), "Against ranks x threads, on the data of the comparison:"]
        grown.append(compared.scaling_table())
        say("\n\n".join(grown))
        parts += grown
    say("\nmeasuring checkpoints")
    checkpoints = Checkpoints(program, compared.path, arguments.folder, size.runs)
    checkpoints.measure()
    kept = ["### Checkpoints", checkpoints.report()]
    say("\n" + "\n\n".join(kept))
    parts += kept
    aims = ["### Aims", targets.report(compared, growth.cases, checkpoints)]
    say("\n" + "\n\n".join(aims))
    parts += aims
    replace_section(arguments.out, f"make bench BENCH_SIZE={arguments.size}", "\n\n".join(parts))
    say(f"\nwrote {arguments.out}")


if __name__ == "__main__":
    main()
