"""Fixtures: a cluster that is started once, and the work that tests give it."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

HERE = Path(__file__).parent
SCRIPTS = HERE.parent.parent / "slurm"
sys.path.append(str(HERE.parent / "python"))

from files import content  # noqa: E402
from missing import missing  # noqa: E402
from nodes import links  # noqa: E402
from process import run  # noqa: E402
from slurm import Slurm  # noqa: E402
from hosts import Hosts  # noqa: E402

LAB = Path("/run/cluster")
# The state before any test.
MOUNTED = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
LINKED = links()

# Ranks share few cores, and the only network is the one of the tests. The Makefile explains the first three.
os.environ.update(
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_btl_vader_single_copy_mechanism="none",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_MCA_mpi_yield_when_idle="1",
    OMPI_MCA_pml="ob1",
    OMPI_MCA_btl="self,vader,tcp",
)


def pytest_configure():
    if "MACROK_CLUSTER_RUN" not in os.environ or "MACROK_BIN" not in os.environ:
        pytest.exit("run `make test-cluster`, which prepares a place for these tests", returncode=2)


def pytest_collection_modifyitems(items):
    # These tests look for leftovers of all others.
    items.sort(key=lambda item: item.path.name == "test_leftovers.py")


def pytest_report_teststatus(report):
    if report.skipped:
        why = report.longrepr[2].removeprefix("Skipped: ")
        return "skipped", "s", f"SKIPPED: {why}"
    if report.when == "call" and report.outcome in ("passed", "failed"):
        return report.outcome, report.outcome[0], f"{report.outcome} in {report.duration:.1f} s"
    return None


def pytest_terminal_summary(terminalreporter):
    count = {outcome: len(terminalreporter.stats.get(outcome, [])) for outcome in ["passed", "failed", "error"]}
    terminalreporter.write_line(f"{count['passed']} passed, {count['failed'] + count['error']} failed")


@pytest.fixture(scope="session")
def binary():
    return Path(os.environ["MACROK_BIN"]).resolve(strict=True)


@pytest.fixture(scope="session")
def mpich_binary():
    """The program built with MPICH, by `make test-mpich`."""
    path = os.environ.get("MACROK_MPICH_BIN")
    if not path:
        missing("a program built with MPICH that is up to date; run make test-mpich")
    return Path(path).resolve(strict=True)


@pytest.fixture(scope="session")
def slurm(binary):
    cluster = Slurm(LAB / "slurm", 4)
    cluster.environment["MACROK"] = str(binary)
    yield cluster
    cluster.down()


@pytest.fixture(scope="session")
def hosts():
    pair = Hosts(LAB / "workstations", ["w1", "w2"])
    yield pair
    pair.down()


@pytest.fixture(scope="session")
def data(binary):
    """Two samples of one problem."""
    folder = LAB / "data"
    folder.mkdir()
    shape = ["--instances", "3000", "--labels", "500", "--seed", "3"]
    train, test = folder / "train.h5", folder / "test.h5"
    run(binary, "synth", train, *shape)
    run(binary, "synth", test, *shape, "--first-row", "3000")
    return SimpleNamespace(train=train, test=test)


@pytest.fixture(scope="session")
def fits(data):
    """Arguments of two fits: a short one, and one of 40 iterations, each of which adds a rule."""
    base = ["--marginals", data.train, "--labels", data.train, "-k", "3"]
    no_end = "--metric macro-precision --init random --step classic --min-gain 0 --tolerance 0 --max-iters 40"
    return SimpleNamespace(short=[*base, "--metric", "macro-f1"], long=[*base, *no_end.split()])


@pytest.fixture(scope="session")
def alone(binary, tmp_path_factory):
    """Runs a command in one process and returns the content of the file it writes."""
    known = {}

    def compute(*arguments):
        if arguments not in known:
            out = tmp_path_factory.mktemp("alone") / "out.h5"
            run(binary, *arguments, "--out", out)
            known[arguments] = content(out)
        return known[arguments]

    return compute


JOB = """
k = [1, 3]
metrics = ["macro-precision", "macro-f1"]
strategies = ["top-k", "frank-wolfe"]
targets = ["labels", "expected"]

[data.fit]
marginals = "{folder}/train.h5"
labels = "{folder}/train.h5"

[data.test]
marginals = "{folder}/test.h5"
labels = "{folder}/test.h5"

[fit]
max-iters = 6
min-gain = 0.0
init = "random"

[evaluate]
repeats = 2
"""


@pytest.fixture(scope="session")
def experiment(binary, data, tmp_path_factory):
    """A job file and its results from one process."""
    folder = tmp_path_factory.mktemp("experiment")
    job = folder / "job.toml"
    job.write_text(JOB.replace("{folder}", str(data.train.parent)), encoding="utf-8")
    run(binary, "run", job, "--out", folder / "out")
    return SimpleNamespace(job=job, results=results(folder / "out"))


def results(folder):
    return {end: (folder / f"results.{end}").read_text(encoding="utf-8") for end in ["json", "csv", "md"]}


@pytest.fixture
def submit(slurm, tmp_path):
    """Submits a script of the project in the folder of the test."""

    def send(script, *arguments, options=(), env=None):
        # The machine may have only two cores; the option overrides a line of the script.
        command = ["sbatch", "--parsable", "--cpus-per-task=1", *options, script, *arguments]
        return slurm.job(command, tmp_path, env or {})

    return send


@pytest.fixture
def slow_until_restarted(binary, tmp_path):
    """Variables that make a job slow until it is restarted."""
    wrapper = tmp_path / "macrok"
    wrapper.write_text(f'#!/bin/sh\n[ "${{SLURM_RESTART_COUNT:-0}}" = 0 ] || unset MACROK_TEST_FAULT\nexec {binary} "$@"\n')
    wrapper.chmod(0o755)
    return {"MACROK": str(wrapper), "MACROK_TEST_FAULT": "sleep=300@pass:0"}
