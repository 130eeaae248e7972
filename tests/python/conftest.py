"""Fixtures that run macrok, and data for it."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from files import write_data
from missing import missing


@pytest.fixture(scope="session")
def binary():
    path = os.environ.get("MACROK_BIN")
    if not path:
        pytest.exit("set MACROK_BIN to the macrok program, or run `make test-python`", returncode=2)
    return Path(path).resolve(strict=True)


def launcher(ranks):
    """Returns the command that starts the program as `ranks` ranks; empty for one process."""
    if ranks is None:
        return []
    mpirun = shutil.which(os.environ.get("MACROK_TEST_MPIRUN", "mpirun"))
    if mpirun is None:
        missing("mpirun; name a launcher in MACROK_TEST_MPIRUN")
    # Set in the environment and not as options, because other launchers ignore these and refuse those.
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    small_machine = {
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    }
    settings = [f"{name}={value}" for name, value in {**as_root, **small_machine}.items()]
    return ["env", *settings, mpirun, "-n", str(ranks)]


@pytest.fixture
def macrok(binary, tmp_path):
    """Runs the program in the folder of the test, and checks its exit status."""

    def run(*arguments, status=0, ranks=None):
        command = [*launcher(ranks), binary, *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        shown = f"macrok {' '.join(map(str, arguments))}\n{done.stdout}\n{done.stderr}"
        assert done.returncode == status, f"status {done.returncode} instead of {status}: {shown}"
        return done

    def facts(*arguments):
        return json.loads(run(*arguments, "--json", "-").stdout)

    return SimpleNamespace(run=run, facts=facts, folder=tmp_path)


def random_data(instances=400, labels=50, stored=12, seed=1):
    """Long-tailed marginals (f32, no stored zeros) and labels drawn from them.

    Row 0 stores no entries and row 1 a single one. The last label has no positive, and the one before it has one
    without a marginal: definitions of metrics differ on such labels.
    """
    random = np.random.default_rng(seed)
    popularity = 1.0 / (1.0 + np.arange(labels))
    dense = np.zeros((instances, labels), dtype=np.float32)
    for row in range(2, instances):
        columns = random.choice(labels, size=stored, replace=False, p=popularity / popularity.sum())
        dense[row, columns] = random.uniform(0.01, 0.9, size=stored)
    dense[1, 3] = 0.5
    dense[:, -2] = 0
    truth = (random.uniform(size=dense.shape) < dense).astype(np.float32)
    truth[:, -1] = 0
    truth[5, -2] = 1
    return SimpleNamespace(marginals=sp.csr_matrix(dense), labels=sp.csr_matrix(truth))


@pytest.fixture
def data(macrok):
    made = random_data()
    made.path = macrok.folder / "data.h5"
    write_data(made.path, made.marginals, made.labels)
    return made
