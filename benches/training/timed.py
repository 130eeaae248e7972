"""Runs a command and returns its wall and CPU seconds."""

import resource
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


class NotMeasured(Exception):
    """An error that the table shows instead of a number."""


@dataclass(frozen=True)
class Took:
    wall: float
    cpu: float
    output: str


# Short work is repeated as often as the time allows, since other load only adds time.
MOST_RUNS, SECONDS = 5, 5.0


def fastest(work, seconds):
    """The result of the fastest run of `work`, by its `seconds`."""
    start, best = time.perf_counter(), None
    for _ in range(MOST_RUNS):
        found = work()
        if best is None or seconds(found) < seconds(best):
            best = found
        if time.perf_counter() - start > SECONDS:
            break
    return best


def run(command: list, log: Path) -> Took:
    """The command as text, so that readers can repeat it."""
    words = [str(part) for part in command]
    with log.open("a") as file:
        file.write(" ".join(words) + "\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()[-1]
        raise NotMeasured(f"{Path(words[0]).name}: {last}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(wall, cpu, done.stdout)
