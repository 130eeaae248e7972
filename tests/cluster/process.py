"""Runs programs under time limits, and waits for conditions."""

import subprocess
import time


# Factor for time limits, which are generous for an idle machine. Only failing tests reach them, so large ones cost nothing.
PATIENCE = 4


class TookTooLong(AssertionError):
    pass


def shown(done):
    """Formats a finished program for a message: command, status and output."""
    command = " ".join(map(str, done.args))
    return f"{command}\nstatus {done.returncode}\n--- output\n{done.stdout}--- errors\n{done.stderr}"


def limited(command, seconds):
    """Returns the command under a time limit that also ends its children."""
    return ["timeout", "-k", "5", str(PATIENCE * seconds), *map(str, command)]


def run(*command, seconds=30, status=0, **options):
    """Runs a program to its end and checks its exit status; any will do when `status` is None."""
    done = subprocess.run(
        limited(command, seconds),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE * seconds + 10,
        **options,
    )
    if done.returncode in (124, 137) and status != done.returncode:
        raise TookTooLong(f"not done in {PATIENCE * seconds} s: {shown(done)}")
    assert status is None or done.returncode == status, f"status {status} was expected: {shown(done)}"
    return done


def until(condition, what, seconds=30, pause=0.05):
    """Waits until `condition` returns something true, and returns that."""
    end = time.monotonic() + PATIENCE * seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise TookTooLong(f"not in {PATIENCE * seconds} s: {what() if callable(what) else what}")
        time.sleep(pause)


def stop(process, seconds=5):
    """Terminates a process, and kills it if it does not end."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(seconds)
