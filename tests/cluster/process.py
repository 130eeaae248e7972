"""Running programs so that none can hang a test, and waiting for what they do."""

import subprocess
import time


# Limits are what an idle machine needs, several times over; a busy one gets as many times that. A limit that is reached
# is a failure, so a large one costs nothing.
PATIENCE = 4


class TookTooLong(AssertionError):
    pass


def shown(done):
    """A finished program for a message: what was typed, what came of it, what it said."""
    command = " ".join(map(str, done.args))
    return f"{command}\nstatus {done.returncode}\n--- output\n{done.stdout}--- errors\n{done.stderr}"


def limited(command, seconds):
    """The command under a limit that ends its children too."""
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
    """Waits for `condition` to give something true, and gives it back."""
    end = time.monotonic() + PATIENCE * seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise TookTooLong(f"not in {PATIENCE * seconds} s: {what() if callable(what) else what}")
        time.sleep(pause)


def stop(process, seconds=5):
    """Ends a program we started: asked first, then forced."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(seconds)
