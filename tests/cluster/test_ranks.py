"""Ranks that fail end the job with one message; many ranks give the bits of one process."""

import shutil

import h5py
import pytest

from conftest import SCRIPTS
from files import content
from process import run
from slurm import BINDS


def errors(log):
    return [line for line in log.splitlines() if "macrok: error:" in line]


def test_a_rank_with_bad_data_ends_the_job_with_one_message(submit, data, tmp_path):
    bad = tmp_path / "bad.h5"
    shutil.copy(data.train, bad)
    with h5py.File(bad, "r+") as file:
        file["marginals/data"][-1] = 1.5
    job = submit(SCRIPTS / "fit.sbatch", "--marginals", bad, "-k", "3", "--out", "clf.h5").wait("FAILED")
    assert job.exit_status() == 2 and job.restarts() == 0
    (error,) = errors(job.log())
    assert f"{bad}:marginals: row 2999, column" in error and "1.5" in error
    assert not (tmp_path / "clf.h5").exists()


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("memory@load:3", "memory allocation of"),
        ("memory@pass#3:3", "memory allocation of"),
        ("panic@pass#3:3", "internal error on rank 3"),
    ],
)
def test_a_rank_that_fails_ends_the_job_with_its_message(submit, fits, tmp_path, fault, says):
    env = {"MACROK_TEST_FAULT": fault}
    job = submit(SCRIPTS / "fit.sbatch", *fits.short, "--out", "clf.h5", env=env).wait("FAILED")
    # srun has the highest status of all ranks, which is 137 for those that it kills after one has failed.
    assert job.exit_status() in (1, 137) and job.restarts() == 0, job.log()
    assert job.log().count(says) == 1, job.log()
    assert not (tmp_path / "clf.h5").exists()


@pytest.mark.skipif(not BINDS, reason="Slurm can bind ranks only where it has all CPUs, here two")
def test_each_rank_is_bound_to_its_own_cores(submit, binary, fits, tmp_path):
    wrapper = tmp_path / "macrok"
    wrapper.write_text(f'#!/bin/sh\necho "$(hostname) $(taskset -cp $$)" >> ranks\nexec {binary} "$@"\n')
    wrapper.chmod(0o755)
    submit(SCRIPTS / "fit.sbatch", *fits.short, "--out", "clf.h5", env={"MACROK": str(wrapper)}).wait("COMPLETED")
    ranks = {(line.split()[0], line.split()[-1]) for line in (tmp_path / "ranks").read_text().splitlines()}
    hosts = sorted({host for host, _ in ranks})
    assert len(hosts) == 2 and ranks == {(host, cpu) for host in hosts for cpu in "01"}


def test_sixteen_ranks_on_one_machine(binary, alone, fits, tmp_path):
    done = run("mpirun", "-n", "16", binary, "fit", *fits.long, "--out", tmp_path / "clf.h5", "--threads", "1", seconds=60)
    assert "16 ranks x 1 thread" in done.stdout
    assert content(tmp_path / "clf.h5") == alone("fit", *fits.long)
