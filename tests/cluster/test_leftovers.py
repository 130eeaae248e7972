"""The last tests: nothing is left of a cluster that is killed or shut down."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from conftest import HERE, LINKED, MOUNTED
from nodes import links
from process import PATIENCE, until


def processes():
    """Returns number and name of the processes of this run, except this one and its ancestors."""
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
def test_a_second_cluster_that_is_killed_leaves_nothing(slurm, how):
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
    until(lambda: len(slurm.idle()) == 4, slurm.state)


def test_nothing_is_left_behind(slurm, hosts):
    slurm.down()
    hosts.down()
    until(lambda: not processes(), lambda: f"left behind: {processes()}", 5)
    until(lambda: links() == LINKED, lambda: f"left behind: {links()}, {LINKED}", 5)
    assert "cluster" in LINKED
    assert mounts() == MOUNTED
    # All files are in one folder. /tmp is private unless it contains the project.
    assert not os.path.ismount("/tmp") or not os.listdir("/tmp")
