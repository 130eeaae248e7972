"""Runs a command and tells wall and CPU seconds of all of it."""

import resource
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


class NotMeasured(Exception):
    """Something that is shown in place of a number."""


@dataclass(frozen=True)
class Took:
    wall: float
    cpu: float
    output: str


# Short work is done again, as often as fits: what else a machine does only adds.
MOST_RUNS, SECONDS = 5, 5.0


def fastest(work, seconds):
    """The result of `work` that took least, by `seconds` of a result."""
    start, best = time.perf_counter(), None
    for _ in range(MOST_RUNS):
        found = work()
        if best is None or seconds(found) < seconds(best):
            best = found
        if time.perf_counter() - start > SECONDS:
            break
    return best


def run(command: list, log: Path) -> Took:
    """The command, written down as it was run, so that anybody can run it again."""
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
