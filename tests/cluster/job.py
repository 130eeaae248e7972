"""Jobs of Slurm."""

import re

from process import until


class Job:
    def __init__(self, slurm, number, log):
        self.slurm, self.number, self.log_file = slurm, number, log

    def log(self):
        return self.log_file.read_text(encoding="utf-8") if self.log_file.exists() else ""

    def facts(self):
        """Returns what Slurm knows: a dictionary for each task of an array, one for other jobs."""
        done = self.slurm.run("scontrol", "show", "job", "-o", self.number)
        return [dict(re.findall(r"(\S+?)=(\S*)", line)) for line in done.stdout.splitlines() if line]

    def states(self):
        return {facts["JobState"] for facts in self.facts()}

    def restarts(self):
        return max(int(facts["Restarts"]) for facts in self.facts())

    def minutes(self):
        """Returns for how many whole minutes it has run."""
        hours, minutes, _ = self.facts()[0]["RunTime"].split(":")
        return 60 * int(hours) + int(minutes)

    def exit_status(self):
        """Returns the status of its batch script."""
        return int(self.facts()[0]["ExitCode"].split(":")[0])

    def wait(self, state, seconds=30):
        """Waits until it, with all tasks of an array, is in that state."""

        def arrived():
            states = self.states()
            ended = states <= {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}
            assert not ended or states == {state}, f"job {self.number} is {states}, not {state}\n{self.log()}"
            return states == {state}

        until(arrived, lambda: f"job {self.number} {state}, but {self.facts()}\n{self.log()}\n{self.slurm.state()}", seconds)
        return self

    def wait_for_log(self, text, seconds=30):
        """Waits until the log of the job matches a pattern."""

        def arrived():
            found = re.search(text, self.log())
            running = self.states() <= {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING"}
            assert found or running, f"job {self.number} ended without {text!r}\n{self.log()}"
            return found

        return until(arrived, lambda: f"job {self.number} to write {text!r}, but {self.facts()}\n{self.log()}", seconds)
