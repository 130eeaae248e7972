"""Growth of the time of an iteration with rows, entries per row, labels and k, one at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import data, document, programs
from .programs import Facts, Job, NotMeasured
from .sizes import Shape, Size

JOB = Job(1, 2)
K, ITERATIONS = 5, 3


@dataclass
class Point:
    """A table row: the value that grows, and the fixed values."""

    value: int
    shape: Shape
    k: int = K
    runs: list[Facts] = field(default_factory=list)
    problem: str = ""

    def best(self, figure: str) -> float:
        return min(run[figure] for run in self.runs)

    def peak(self) -> float:
        return max(run["peak"] for run in self.runs)

    def nanoseconds(self, figure: str) -> float:
        """Time per stored entry and core."""
        return self.best(figure) / self.shape.entries * JOB.cores * 1e9


class Growth:
    """`kept` is the file of the comparison, which must not be deleted even if a table uses it too."""

    def __init__(self, size: Size, program: Path, folder: Path, kept: Path):
        self.size, self.program, self.folder, self.kept = size, program, folder, kept
        self.cases: list[Point] = []

    def measure(self, points: list[Point], runs: int) -> list[Point]:
        """Measure the points of a table in turns. Their files are deleted immediately, because they are large."""
        files = [data.make(self.program, self.folder, point.shape) for point in points]
        for _ in range(runs):
            for point, path in zip(points, files, strict=True):
                try:
                    point.runs.append(programs.fit(self.program, JOB, path, point.k, ITERATIONS, self.folder))
                except NotMeasured as reason:
                    point.problem = str(reason)
        for path in set(files) - {self.kept}:
            path.unlink()
        return points

    def report(self, log: Callable[[str], None]) -> str:
        base, size = self.size.growth, self.size
        # k = 100 needs rows with more than 100 entries.
        wide = replace(base, nnz=2 * base.nnz)
        tables = {
            "rows": [Point(base.rows * x, replace(base, rows=base.rows * x)) for x in (1, 2, 4)],
            "entries a row": [Point(nnz, replace(base, nnz=nnz)) for nnz in size.nnz],
            "labels": [Point(labels, replace(base, labels=labels)) for labels in size.labels],
            "k": [Point(k, wide, k) for k in size.k],
        }
        parts = [f"One rank x {JOB.threads} threads, {ITERATIONS} iterations and the initial pass."]
        for name, points in tables.items():
            log(f"  {name}")
            self.measure(points, size.growth_runs)
            parts += [f"Against {name}{self.fixed(name, points[0].shape)}:", table(name, points)]
        if size.cases:
            log("  large cases")
            self.cases = self.measure([Point(shape.labels, shape) for shape in size.cases], size.case_runs)
            first = size.cases[0]
            parts += [f"{first.rows:,} rows with {first.nnz} entries:", table("labels", self.cases)]
        return "\n\n".join(parts)

    def fixed(self, name: str, shape: Shape) -> str:
        others = {"rows": shape.rows, "labels": shape.labels, "entries a row": shape.nnz, "k": K}
        return " (" + ", ".join(f"{value:,} {other}" for other, value in others.items() if other != name) + ")"


def table(name: str, points: list[Point]) -> str:
    header = [
        name, "growth", "s/iteration", "spread", "growth", "s/pass", "growth", "pass ns/entry/core",
        "iteration ns/entry/core", "search s", "peak memory", "/ file",
    ]  # fmt: skip
    rows, first = [], points[0]
    for point in points:
        if not point.runs:
            rows.append([f"{point.value:,}", "", f"not measured: {point.problem}", *[""] * (len(header) - 3)])
            continue

        def grown(figure: str, point: Point = point) -> str:
            return f"{point.best(figure) / first.best(figure):.2f} x" if first.runs else ""

        rows.append([
            f"{point.value:,}",
            f"{point.value / first.value:.2f} x",
            document.seconds(point.best("iteration")),
            document.spread([run["iteration"] for run in point.runs]),
            grown("iteration"),
            document.seconds(point.best("pass")),
            grown("pass"),
            f"{point.nanoseconds('pass'):.2f}",
            f"{point.nanoseconds('iteration'):.2f}",
            document.seconds(point.best("search")),
            document.size(point.peak()),
            f"{point.peak() / (8 * point.shape.entries):.2f}",
        ])  # fmt: skip
    return document.table(header, rows)
