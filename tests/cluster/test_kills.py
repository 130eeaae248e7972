"""Ranks that are killed without warning, again and again: the fit goes on, to the same bits."""

import os
import random
import signal
import subprocess

from files import content
from process import limited, run

KILLS = 30
# Start to end of a fit that nobody disturbs, in seconds; kills come at any moment of it.
LONGEST = 1.8


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
    kills = finished = resumed = 0
    while kills < KILLS:
        out = tmp_path / f"clf-{finished}.h5"
        command = [binary, "fit", *fits.long, "--out", out, "--resume", "--threads", "1"]
        launch = limited(["mpirun", "-n", choice.choice([2, 3, 4]), *command], 30)
        with open(tmp_path / f"log-{finished}-{kills}", "w", encoding="utf-8") as log:
            fit = subprocess.Popen(launch, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env)
        try:
            status = fit.wait(choice.uniform(0, LONGEST))
        except subprocess.TimeoutExpired:
            kills += kill_one(choice)
            status = fit.wait(40)
        said = (tmp_path / log.name).read_text()
        assert status in (0, 137), f"status {status}\n{said}"
        resumed += "going on" in said
        if status == 0:
            assert content(out) == expected, f"fit {finished} after {kills} kills"
            finished += 1
    # Most kills must have been survived by going on, or this shows little.
    assert resumed > KILLS / 2 and finished >= 3, f"{resumed} resumed, {finished} finished"
