"""The cost of checkpoints: how long a fit waits for them, and how much longer it takes than without them."""

from dataclasses import dataclass, field
from pathlib import Path

from . import document, programs
from .programs import Facts, Job, NotMeasured

JOB = Job(1, 2)
# These options never stop a fit early, so every data set gets the same number of iterations, rules and checkpoints.
ITERATIONS = 20
OPTIONS = ["--init", "random", "--step", "classic", "--min-gain", 0, "--tolerance", 0, "--max-iters", ITERATIONS]


@dataclass
class Fits:
    """Runs that write a checkpoint every `every` iterations; 0 means never."""

    every: int
    runs: list[Facts] = field(default_factory=list)

    def best(self, figure: str) -> float:
        return min(run[figure] for run in self.runs)


class Checkpoints:
    def __init__(self, program: Path, path: Path, folder: Path, turns: int):
        self.program, self.path, self.folder, self.turns = program, path, folder, turns
        self.without, self.each = Fits(0), Fits(1)
        self.problem = ""

    def measure(self) -> None:
        try:
            for _ in range(self.turns):
                for fits in [self.without, self.each]:
                    fits.runs.append(self.fit(fits.every))
        except NotMeasured as reason:
            self.problem = str(reason)

    def fit(self, every: int) -> Facts:
        out = self.folder / "checkpointed.h5"
        arguments = ["fit", "--marginals", self.path, "--labels", self.path, "-k", 5, "--metric", programs.METRIC]
        facts = programs.macrok(
            self.program, JOB, [*arguments, *OPTIONS, "--out", out, "--checkpoint-every", every], self.folder
        )
        out.unlink()
        seconds, written = facts["seconds"], facts["checkpoints"]
        iteration = sum(seconds[part] for part in ("oracle", "reduce", "gradient", "search")) / facts["passes"]
        return {
            "iteration": iteration,
            # Per iteration; a checkpoint precedes each iteration, and one follows the last.
            "waited": seconds["checkpoint"] / facts["passes"] / iteration,
            # The time from the loaded data to the written classifier and the deleted checkpoint.
            "elapsed": seconds["total"] - seconds["load"],
            "written": written["written"],
            "bytes": written["bytes"] / max(written["written"], 1),
            "beside": written["seconds_beside"] / max(written["written"], 1),
        }

    def waited(self) -> float:
        """Percentage of an iteration for which the fit waits for a checkpoint."""
        return 100 * self.each.best("waited")

    def report(self) -> str:
        if self.problem:
            return f"not measured: {self.problem}"
        header = [
            "checkpoints", "s/iteration", "waited, of an iteration", "written", "size", "s to write, beside", "fit and write s",
            "spread", "over none",
        ]  # fmt: skip
        rows = []
        for name, fits in [("none", self.without), ("every iteration", self.each)]:
            elapsed = [run["elapsed"] for run in fits.runs]
            rows.append([
                name,
                document.seconds(fits.best("iteration")),
                f"{100 * fits.best('waited'):.2f}%",
                f"{max(run['written'] for run in fits.runs)}",
                document.size(max(run["bytes"] for run in fits.runs)),
                document.seconds(fits.best("beside")),
                document.seconds(min(elapsed)),
                document.spread(elapsed),
                f"{min(elapsed) / self.without.best('elapsed'):.3f} x",
            ])  # fmt: skip
        return "\n\n".join([
            f"{ITERATIONS} iterations on the data of the comparison, macrok {JOB}:",
            document.table(header, rows),
        ])  # fmt: skip
