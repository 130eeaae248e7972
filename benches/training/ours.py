"""macrok's part of every comparison: train, then compute the largest marginals of the test rows."""

import json
from pathlib import Path

from . import quality, timed
from .sets import DataSet

KEEP = 200


def facts(data: DataSet, arguments: list) -> tuple[timed.Took, dict]:
    report = data.folder / "facts.json"
    took = timed.run([data.macrok, *arguments, "--json", report, "--force"], data.log)
    return took, json.loads(report.read_text())


def train(data: DataSet, estimator: str, options: tuple, threads: int, name: str) -> dict:
    model = data.folder / f"{name}.model"
    took, told = facts(
        data, ["train", data.h5("train"), "--estimator", estimator, *options, "--threads", threads, "--out", model]
    )
    return {
        "train wall": took.wall,
        "train CPU": took.cpu,
        "peak": told["peak_rss_bytes"],
        "model bytes": model.stat().st_size,
    }


def marginals(data: DataSet, part: str, threads: int, name: str) -> tuple[Path, dict]:
    out = data.folder / f"{name}-{part}.h5"
    model = data.folder / f"{name}.model"
    arguments = ["marginals", model, data.h5(part), "--keep", KEEP, "--threads", threads, "--out", out]
    took, told = timed.fastest(lambda: facts(data, arguments), lambda found: found[1]["seconds"]["estimate"])
    return out, {"top wall": took.wall, "top CPU": took.cpu, "estimate": told["seconds"]["estimate"], "rows": told["n"]}


def measure(data: DataSet, estimator: str, options: tuple, threads: int, name: str) -> dict:
    """The time, size and quality of one estimator."""
    trained = train(data, estimator, options, threads, name)
    out, asked = marginals(data, "test", threads, name)
    return trained | asked | quality.of(quality.read(out, "marginals"), quality.read(out, "labels"))
