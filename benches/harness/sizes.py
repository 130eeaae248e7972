"""The amount of work for each BENCH_SIZE."""

from dataclasses import dataclass, field

LABELS = (1_000, 10_000, 100_000, 1_000_000, 3_000_000)


@dataclass(frozen=True)
class Shape:
    """A synthetic data set."""

    rows: int
    labels: int
    nnz: int

    @property
    def entries(self) -> int:
        return self.rows * min(self.nnz, self.labels)


@dataclass(frozen=True)
class Size:
    """The comparison, and the base cases of the growth tables."""

    main: Shape
    # Number of runs of each macrok configuration and of xcolumns; the fastest counts.
    runs: int
    xcolumns_runs: int
    # Number of rows that xcolumns predicts, about 20 microseconds each.
    predicted_rows: int
    bandwidth_mib: int
    growth: Shape
    growth_runs: int = 3
    labels: tuple[int, ...] = LABELS
    nnz: tuple[int, ...] = (50, 100, 200, 400)
    k: tuple[int, ...] = (1, 5, 10, 20, 50, 100)
    # Additional cases outside the growth tables.
    cases: tuple[Shape, ...] = field(default=())
    case_runs: int = 8


SIZES = {
    # Used by the test of this harness.
    "tiny": Size(
        Shape(2_000, 300, 20), 1, 1, 500, 16, Shape(500, 300, 30), 1, (300, 1_000), (30, 60), (1, 5),
    ),
    "S": Size(Shape(50_000, 13_330, 200), 5, 3, 20_000, 512, Shape(25_000, 13_330, 100)),
    "M": Size(Shape(300_000, 13_330, 200), 5, 3, 50_000, 512, Shape(100_000, 13_330, 100)),
    "full": Size(
        Shape(1_186_239, 13_330, 200), 5, 2, 100_000, 1024, Shape(300_000, 13_330, 100),
        # The case with 3 million labels is compared with that of 13,330 labels, with equal rows and entries.
        cases=(Shape(1_700_000, 13_330, 100), Shape(1_700_000, 3_000_000, 100)),
    ),
}  # fmt: skip
