"""Runs the compared programs, each in a separate process, and reads their reports."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Facts = dict[str, Any]

METRIC, EPSILON, TOLERANCE = "macro-f1", 1e-6, 1e-3


class NotMeasured(Exception):
    """An error that the table shows instead of a number."""


@dataclass(frozen=True)
class Job:
    ranks: int
    threads: int

    def __str__(self) -> str:
        return f"{self.ranks} x {self.threads}"

    @property
    def cores(self) -> int:
        """The number of cores it can keep busy, at most one per thread."""
        return min(self.ranks * self.threads, len(os.sched_getaffinity(0)))


def environment() -> dict[str, str]:
    """Settings that let launchers start more ranks than cores, also as root, and leave threads unbound: a rank
    bound to one core would run both of its threads there."""
    settings = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
    }
    return settings | dict(os.environ)


def run(command: list, what: str) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment())
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()[-1]
        raise NotMeasured(f"{what}: {last}")
    return done.stdout


def macrok(program: Path, job: Job, arguments: list, folder: Path) -> Facts:
    """Run a command; return its own figures and the wall time of the whole process."""
    launcher = []
    if job.ranks > 1:
        mpirun = shutil.which("mpirun")
        if mpirun is None:
            raise NotMeasured("no mpirun")
        launcher = [mpirun, "-n", job.ranks]
    report = folder / "facts.json"
    command = [*launcher, program, *arguments, "--threads", job.threads, "--json", report, "--force"]
    start = time.perf_counter()
    run(command, "macrok")
    wall = time.perf_counter() - start
    return json.loads(report.read_text()) | {"wall": wall}


def fit(program: Path, job: Job, data: Path, k: int, iterations: int, folder: Path) -> Facts:
    """`macrok fit` with the settings of xcolumns: the same epsilon, and stopping by step size instead of gain."""
    facts = macrok(
        program, job,
        ["fit", "--marginals", data, "--labels", data, "-k", k, "--metric", METRIC, "--out", folder / "clf.h5",
         "--max-iters", iterations, "--tolerance", TOLERANCE, "--min-gain", 0, "--epsilon", EPSILON],
        folder,
    )  # fmt: skip
    seconds, passes = facts["seconds"], facts["passes"]
    parts = [seconds[part] for part in ("oracle", "reduce", "gradient", "search")]
    return {
        "iteration": sum(parts) / passes,
        "pass": seconds["oracle"] / passes,
        "reduce": seconds["reduce"] / passes,
        "search": seconds["search"] / passes,
        "fit_a_pass": seconds["fit"] / passes,
        "whole": facts["wall"],
        "load": seconds["load"],
        "passes": passes,
        "utility": facts["utility"],
        "peak": facts["peak_rss_bytes"],
        "bytes": facts["bytes_per_pass"],
    }


def predict(program: Path, job: Job, data: Path, folder: Path) -> float:
    """Microseconds per row for drawing from the most recent mixture, without loading and writing."""
    out = folder / "predicted.h5"
    facts = macrok(program, job, ["predict", folder / "clf.h5", "--marginals", data, "--out", out], folder)
    out.unlink()
    return facts["seconds"]["predict"] / facts["n"] * 1e6


def xcolumns(npz: dict[str, Path], k: int, iterations: int, predicted_rows: int, threads: int) -> Facts:
    """xcolumns in a separate process; see xcolumns_worker.py."""
    worker = Path(__file__).with_name("xcolumns_worker.py")
    settings = {"NUMBA_NUM_THREADS": str(threads), "XCOLUMNS_NUMBA_PARALLEL": str(int(threads > 1))}
    command = ["env", *(f"{name}={value}" for name, value in settings.items()), sys.executable, "-B", worker]
    command += [npz["marginals"], npz["labels"], k, iterations, EPSILON, TOLERANCE, predicted_rows]
    facts = json.loads(run(command, "xcolumns"))
    if "not_measured" in facts:
        raise NotMeasured(facts["not_measured"])
    return facts


def bandwidth(command: str, mib: int) -> dict[int, Facts]:
    """Read bandwidth by number of threads."""
    if not command:
        raise NotMeasured("no --bandwidth command given")
    report = run([*shlex.split(command), "--threads", "1,2", "--mib", mib], "bandwidth")
    return {read["threads"]: read for read in json.loads(report)["reads"]}
