"""Comparison with napkinXC's probabilistic label trees with default options, in the same run."""

import json
import sys
from pathlib import Path

from harness.document import ratio, size, table

from . import ours, timed
from .sets import DataSet

TITLE = "Against napkinXC"

# Options measured in addition to macrok's defaults. One-vs-rest of thousands of labels takes long.
LINEAR = {"macrok linear": ("linear", ())}
ALSO = {
    "bibtex": LINEAR,
    "delicious": LINEAR,
    "eurlex57k": {
        "macrok plt --leaf-size 400 --cost 20": ("plt", ("--leaf-size", 400, "--cost", 20)),
        "macrok plt --trees 3": ("plt", ("--trees", 3)),
    },
}

HEADER = ["", "train s", "CPU s", "top 200 s", "CPU s", "ms a row", "model", "P@1", "P@3", "P@5", "ECE"]


def theirs(data: DataSet, threads: int) -> dict:
    worker = Path(__file__).with_name("napkinxc_worker.py")
    command = [sys.executable, "-B", worker, data.text("train"), data.text("test"), data.h5("test")]
    took = timed.run([*command, data.folder / "napkinxc", threads, ours.KEEP], data.log)
    return json.loads(took.output.splitlines()[-1])


def line(name: str, found: dict) -> list[str]:
    quality = [f"{found[key]:.4f}" for key in ("P@1", "P@3", "P@5")]
    times = [f"{found[key]:.2f}" for key in ("train wall", "train CPU", "top wall", "top CPU")]
    each = f"{found['estimate'] / found['rows'] * 1e3:.3f}"
    return [name, *times, each, size(found["model bytes"]), *quality, f"{found['ECE']:.5f}"]


def report(data: DataSet, threads: int, log) -> str:
    """A table for one data set, and its summary."""
    rows = []
    try:
        napkin = theirs(data, threads)
        rows.append(line("napkinXC 0.7.2, defaults", napkin))
    except timed.NotMeasured as why:
        napkin = None
        rows.append([f"napkinXC: not measured: {why}", *[""] * (len(HEADER) - 1)])
    log(f"  {' '.join(rows[-1])}")
    plt = ours.measure(data, "plt", (), threads, "plt")
    rows.append(line("macrok plt, defaults", plt))
    log(f"  {' '.join(rows[-1])}")
    for name, (estimator, options) in ALSO.get(data.name, {}).items():
        found = ours.measure(data, estimator, options, threads, "also")
        rows.append(line(name, found))
        log(f"  {' '.join(rows[-1])}")
    text = f"### {data.name}\n\n{table(HEADER, rows)}"
    if napkin:
        faster = ratio(napkin["train wall"] / plt["train wall"])
        top = ratio(napkin["estimate"] / plt["estimate"])
        better = min(plt[key] - napkin[key] for key in ("P@1", "P@3", "P@5")) * 100
        text += (
            f"\n\nTraining {faster} as fast, the largest {ours.KEEP} marginals {top} (without reading model and data, "
            f"which macrok does for each run); the worst of P@1, P@3, P@5 differs by {better:+.2f} points."
        )
    return text
