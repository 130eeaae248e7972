"""Ranks that are killed without warning: the fit resumes again and again, to the same bits."""

import os
import random
import signal
import subprocess
import time

from files import content
from process import PATIENCE, run, until

KILLS = 20

# Open MPI's launcher sometimes hangs when a rank dies before the program has begun.
MOST_HANGS = 3


def kill_one(choice):
    """Kills a rank and returns 1, or 0 if there is none because ranks are starting or have left."""
    ranks = run("pgrep", "-x", "macrok", status=None).stdout.split()
    try:
        os.kill(int(choice.choice(ranks)), signal.SIGKILL)
    except (IndexError, ProcessLookupError):
        return 0
    return 1


def test_a_fit_survives_many_kills_of_random_ranks_at_random_moments(binary, alone, fits, tmp_path):
    expected = alone("fit", *fits.long)
    choice = random.Random(4)
    env = {**os.environ, "MACROK_TEST_FAULT": "sleep=20@pass:0"}
    kills = finished = resumed = hangs = rounds = 0
    while kills < KILLS or finished < 3:
        rounds += 1
        assert rounds < 5 * KILLS, f"{kills} kills, {finished} fits finished"
        out = tmp_path / f"clf-{finished}.h5"
        command = [binary, "fit", *fits.long, "--out", out, "--resume", "--threads", "1"]
        launch = ["mpirun", "-n", choice.choice([2, 3, 4]), *command]
        before, saved = kills, out.with_name(f"{out.name}.checkpoint").exists()
        path = tmp_path / f"log-{rounds}"
        with open(path, "w", encoding="utf-8") as log:
            fit = subprocess.Popen([*map(str, launch)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env)
        if kills < KILLS:
            # One kill of four while ranks start; the others during the second that a fit takes, or as it ends.
            if choice.random() < 0.75:
                until(lambda: "\niteration " in path.read_text() or fit.poll() is not None, "a fit to begin", pause=0.01)
            time.sleep(choice.uniform(0, 1))
            kills += kill_one(choice)
        status = ended(fit, PATIENCE * (5 if kills > before else 30))
        output = path.read_text()
        if status is None:
            end_all(fit)
            assert not has_begun(output), f"the fit does not end after a rank was killed\n{output}"
            hangs += 1
            assert hangs <= MOST_HANGS, f"mpirun did not end {hangs} times\n{output}"
            continue
        # The launcher has the status of the rank that was killed.
        assert status in ((0, 128 + signal.SIGKILL) if kills > before else (0,)), f"status {status}\n{output}"
        resumed += RESUMED in output
        if status == 0:
            assert content(out) == expected, f"fit {finished} after {kills} kills"
            assert not saved or RESUMED in output, f"the fit ignored its checkpoint\n{output}"
            finished += 1
    assert resumed >= KILLS / 4, f"only {resumed} fits resumed"


RESUMED = "resuming after iteration"


def ended(fit, seconds):
    """Returns the status of a launcher, or None if it does not end."""
    try:
        return fit.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def end_all(fit):
    """Ends a launcher that hangs, as a user does."""
    fit.kill()
    run("pkill", "-KILL", "-x", "macrok", status=None)
    fit.wait(PATIENCE * 5)


def has_begun(output):
    """Whether the program has written anything, so that all ranks have started. Lines of Open MPI begin with a bracket, or are
    between two lines of dashes."""
    quoted = False
    for line in output.splitlines():
        if line.startswith("-----"):
            quoted = not quoted
        elif line and not quoted and not line.startswith("["):
            return True
    return False
