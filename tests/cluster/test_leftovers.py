"""Comes last: the cluster is taken down, and then nothing is left of it. Nor of one that is killed."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from conftest import HERE, LINKED, MOUNTED
from nodes import links
from process import PATIENCE, until


def processes():
    """Those of this run, by number and name, without us and what started us. It sees no others."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found[int(folder.name)] = (folder / "comm").read_text().strip()
        except OSError:
            continue
    above = os.getpid()
    while above:
        found.pop(above, None)
        above = int(Path(f"/proc/{above}/stat").read_text().rpartition(")")[2].split()[1])
    return found


def mounts():
    return Path("/proc/self/mountinfo").read_text()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=lambda how: how.name)
def test_a_second_cluster_at_once_that_is_killed_leaves_nothing(slurm, how):
    before, before_links = processes(), links()
    command = ["python3", HERE / "lab.py", "sh", "-c", "sinfo -h -N; echo up; exec sleep 1000"]
    second = subprocess.Popen(
        ["sh", HERE / "run.sh", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    with second.stdout:
        assert any(line == "up\n" for line in second.stdout)
    assert len(processes()) > len(before) + 10
    os.killpg(second.pid, how)
    second.wait(PATIENCE * 15)
    until(lambda: not set(processes()) - set(before), lambda: f"left behind: {processes()}, {before}", 15)
    assert links() == before_links and "n1" in before_links
    assert mounts() == MOUNTED
    assert len(slurm.idle()) == 4


def test_nothing_is_left_behind(slurm, hosts):
    slurm.down()
    hosts.down()
    assert processes() == {}
    assert links() == LINKED and "cluster" in LINKED
    assert mounts() == MOUNTED
    # All that is written goes into one folder. /tmp is ours unless the project is below it.
    assert not os.path.ismount("/tmp") or not os.listdir("/tmp")
