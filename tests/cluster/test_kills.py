"""Ranks that are killed without warning, again and again: the fit goes on, to the same bits."""

import os
import random
import signal
import subprocess
import time

from files import content
from process import PATIENCE, run

KILLS = 30

# Open MPI's launcher now and then waits for ever when a rank dies while it is being started. Nothing of ours runs then.
STANDSTILLS = 3


def kill_one(choice):
    """Kills a rank, if there is one: they may be starting, or already leaving."""
    ranks = run("pgrep", "-x", "macrok", status=None).stdout.split()
    try:
        os.kill(int(choice.choice(ranks)), signal.SIGKILL)
    except (IndexError, ProcessLookupError):
        return 0
    return 1


def test_thirty_kills_of_a_random_rank_at_a_random_moment(binary, alone, fits, tmp_path):
    expected = alone("fit", *fits.long)
    choice = random.Random(4)
    env = {**os.environ, "MACROK_TEST_FAULT": "sleep=20@pass:0"}
    kills = finished = resumed = stood = 0
    # Start to end of a fit that nobody disturbs, in seconds: the first one here. Kills come at any moment of it.
    undisturbed = None
    while kills < KILLS:
        out = tmp_path / f"clf-{finished}.h5"
        command = [binary, "fit", *fits.long, "--out", out, "--resume", "--threads", "1"]
        launch = ["mpirun", "-n", choice.choice([2, 3, 4]), *command]
        before, start, saved = kills, time.monotonic(), out.with_name(f"{out.name}.checkpoint").exists()
        with open(tmp_path / f"log-{finished}-{kills}", "w", encoding="utf-8") as log:
            fit = subprocess.Popen([*map(str, launch)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env)
        try:
            status = fit.wait(choice.uniform(0, undisturbed) if undisturbed else PATIENCE * 30)
        except subprocess.TimeoutExpired:
            kills += kill_one(choice)
            status = ended(fit)
        undisturbed = undisturbed or time.monotonic() - start
        said = (tmp_path / log.name).read_text()
        if status is None:
            end_all(fit)
            assert not has_begun(said), f"does not end after a rank was killed\n{said}"
            stood += 1
            assert stood <= STANDSTILLS, f"mpirun did not end {stood} times\n{said}"
            continue
        assert_ended(status, killed=kills > before, said=said)
        resumed += "going on" in said
        if status == 0:
            assert content(out) == expected, f"fit {finished} after {kills} kills"
            assert not saved or "going on" in said, f"a checkpoint was there, but the fit began again\n{said}"
            finished += 1
    # Many kills must have come when there was something to go on from, or this shows little. How many depends on how long
    # ranks take to start, and that on what else the machine does.
    assert resumed >= KILLS / 5 and finished >= 3, f"{resumed} resumed, {finished} finished"


def ended(fit):
    """The status of a launcher that ends; None for one that does not."""
    try:
        return fit.wait(PATIENCE * 5)
    except subprocess.TimeoutExpired:
        return None


def end_all(fit):
    """What a user does with a launcher that stands still."""
    fit.kill()
    run("pkill", "-KILL", "-x", "macrok", status=None)
    fit.wait(PATIENCE * 5)


def has_begun(said):
    """Whether the program has said anything: then all ranks have started. Lines of Open MPI begin with a bracket, or stand
    between two of dashes."""
    quoted = False
    for line in said.splitlines():
        if line.startswith("-----"):
            quoted = not quoted
        elif line and not quoted and not line.startswith("["):
            return True
    return False


def assert_ended(status, killed, said):
    """Nobody was killed, and the fit is done; or mpirun has the status of the rank that was."""
    allowed = (0, 128 + signal.SIGKILL) if killed else (0,)
    assert status in allowed, f"status {status}\n{said}"
