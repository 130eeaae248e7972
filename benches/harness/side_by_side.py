"""macrok and xcolumns on the same data, in turns, so that a slow minute of the machine affects both."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import data, document, programs
from .programs import Facts, Job, NotMeasured
from .sizes import Size

JOBS = [Job(1, 1), Job(1, 2), Job(2, 1), Job(2, 2)]
K, ITERATIONS = 5, 5
XCOLUMNS, XCOLUMNS_PARALLEL = "xcolumns, serial", "xcolumns, 2 threads"


@dataclass
class Contestant:
    """A table row: its runs, or the reason why there are none."""

    name: str
    cores: int
    ranks: int = 1
    threads: int = 1
    runs: list[Facts] = field(default_factory=list)
    problem: str = ""

    def attempt(self, run) -> None:
        """Run once. A failure is shown in the table and not retried."""
        if not self.problem:
            try:
                self.runs.append(run())
            except NotMeasured as reason:
                self.problem = str(reason)

    def all(self, figure: str) -> list[float]:
        return [run[figure] for run in self.runs]

    def best(self, figure: str) -> float:
        """The fastest run, since other load only adds time."""
        return min(self.all(figure))


class SideBySide:
    def __init__(self, size: Size, program: Path, folder: Path, bandwidth: str):
        self.size, self.program, self.folder = size, program, folder
        self.bandwidth_command = bandwidth
        self.bandwidth: dict[int, float] = {}
        self.bandwidth_problem = ""
        self.ours = [Contestant(f"macrok, {job}", job.cores, job.ranks, job.threads) for job in JOBS]
        self.serial = Contestant(XCOLUMNS, 1)
        self.parallel = Contestant(XCOLUMNS_PARALLEL, Job(1, 2).cores, threads=2)
        self.predictions: dict[int, list[float]] = {1: [], 2: []}
        self.reads: dict[bool, list[float]] = {False: [], True: []}

    def measure(self, log: Callable[[str], None]) -> None:
        self.path = data.make(self.program, self.folder, self.size.main)
        entries = data.stored_entries(self.path)
        # The size of the stored entries in the file, which is that of u32 and f32 in memory.
        self.entries, self.file_bytes = entries["marginals"], 8 * sum(entries.values())
        npz = data.as_npz(self.path)
        turns = max(self.size.runs, self.size.xcolumns_runs)
        for turn in range(turns):
            log(f"  turn {turn + 1} of {turns}")
            self.measure_bandwidth()
            for keep in self.reads:
                seconds, self.loaded_bytes = data.plain_read(self.path, keep)
                self.reads[keep].append(seconds)
            if turn < self.size.xcolumns_runs:
                for threads, theirs in [(1, self.serial), (2, self.parallel)]:
                    theirs.attempt(
                        lambda: programs.xcolumns(npz, K, ITERATIONS, self.size.predicted_rows, threads)
                    )
            # xcolumns may stop early; whole commands are compared on the same number of passes.
            iterations = self.serial.runs[0]["passes"] - 1 if self.serial.runs else ITERATIONS
            if turn < self.size.runs:
                for job, ours in zip(JOBS, self.ours, strict=True):
                    ours.attempt(lambda: programs.fit(self.program, job, self.path, K, iterations, self.folder))
                for threads, seen in self.predictions.items():
                    seen.append(programs.predict(self.program, Job(1, threads), self.path, self.folder))

    def measure_bandwidth(self) -> None:
        try:
            found = programs.bandwidth(self.bandwidth_command, self.size.bandwidth_mib)
        except NotMeasured as reason:
            self.bandwidth_problem = str(reason)
            return
        for threads, read in found.items():
            self.bandwidth[threads] = max(self.bandwidth.get(threads, 0.0), read["bytes_per_second"])

    def report(self) -> str:
        shape = self.size.main
        lines = [
            f"{shape.rows:,} rows x {shape.labels:,} labels, {shape.nnz} stored entries a row "
            f"({self.entries / 1e6:,.1f} million, {document.size(self.file_bytes)} with the labels at 8 B an entry); "
            f"{programs.METRIC} at {K}, at most {ITERATIONS} iterations and the initial pass. macrok as ranks x threads.",
            "",
            self.table(),
            "",
            *(f"- {line}" for line in self.remarks()),
            "",
            "Loading, the file being in the page cache:",
            "",
            self.load_table(),
            "",
            "Prediction from the mixture that was fitted, without loading and writing:",
            "",
            self.prediction_table(),
        ]
        return "\n".join(lines)

    def table(self) -> str:
        header = [
            "program", "s/iteration", "spread", "speed-up", "M entries/s/core", "s/pass", "bytes/pass", "of bandwidth",
            "at 8 B/entry", "fit s/pass", "passes", "utility", "command s", "speed-up", "peak memory", "/ file",
        ]  # fmt: skip
        rows = []
        for one in [self.serial, self.parallel, *self.ours]:
            if not one.runs:
                rows.append([one.name, "not measured", *[""] * (len(header) - 2)])
                continue
            passed = "pass" if "pass" in one.runs[0] else "iteration"
            stated = one.runs[0].get("bytes", self.file_bytes)
            rows.append([
                one.name,
                document.seconds(one.best("iteration")),
                document.spread(one.all("iteration")),
                self.against_xcolumns(one, "iteration"),
                f"{self.entries / one.best('iteration') / one.cores / 1e6:,.1f}",
                document.seconds(one.best(passed)),
                document.size(stated),
                self.of_bandwidth(one, stated / one.best(passed)),
                self.of_bandwidth(one, self.file_bytes / one.best(passed)),
                document.seconds(one.best("fit_a_pass")),
                str(one.runs[0]["passes"]),
                f"{one.runs[0]['utility']:.6f}",
                f"{one.best('whole'):.3f}",
                self.against_xcolumns(one, "whole"),
                document.size(max(one.all("peak"))),
                f"{max(one.all('peak')) * one.ranks / self.file_bytes:.2f}",
            ])  # fmt: skip
        return document.table(header, rows)

    def against_xcolumns(self, one: Contestant, figure: str) -> str:
        if not self.serial.runs:
            return "not measured"
        return document.ratio(self.serial.best(figure) / one.best(figure))

    def of_bandwidth(self, one: Contestant, rate: float) -> str:
        """The fraction of the bandwidth that the same number of threads reach."""
        whole = self.bandwidth.get(one.cores)
        return f"{rate / whole:.3f}" if whole else "not measured"

    def remarks(self):
        for one in [self.serial, self.parallel, *self.ours]:
            if one.problem:
                yield f"{one.name}: not measured: {one.problem}"
        if self.bandwidth:
            reads = (f"{rate / 1e9:.1f} GB/s with {n} thread{'s' * (n > 1)}" for n, rate in sorted(self.bandwidth.items()))
            yield f"Read bandwidth of memory, in the same run: {', '.join(reads)}"
        if self.bandwidth_problem:
            yield f"Read bandwidth: not measured: {self.bandwidth_problem}"

    def scaling_table(self) -> str:
        """The same rows with different numbers of ranks and threads."""
        header = ["ranks x threads", "s/iteration", "spread", "speed-up", "s/pass", "reduce s", "pass ns/entry/core"]
        rows = []
        for job, one in zip(JOBS, self.ours, strict=True):
            if not one.runs or not self.ours[0].runs:
                rows.append([str(job), "not measured", *[""] * (len(header) - 2)])
                continue
            rows.append([
                str(job),
                document.seconds(one.best("iteration")),
                document.spread(one.all("iteration")),
                f"{self.ours[0].best('iteration') / one.best('iteration'):.2f} x",
                document.seconds(one.best("pass")),
                document.seconds(one.best("reduce")),
                f"{one.best('pass') * one.cores / self.entries * 1e9:.2f}",
            ])  # fmt: skip
        return document.table(header, rows)

    def load_table(self) -> str:
        rates = {"plain read, one buffer": self.reads[False], "plain read, new memory": self.reads[True]}
        rates |= {one.name: one.all("load") for one in [*self.ours, self.serial] if one.runs}
        plain = [min(self.reads[keep]) for keep in (False, True)]
        rows = [
            [
                name, document.seconds(min(seen)), document.spread(seen), f"{self.loaded_bytes / min(seen) / 1e9:.2f}",
                *(f"{base / min(seen):.2f}" for base in plain),
            ]
            for name, seen in rates.items()
        ]  # fmt: skip
        return document.table(["load", "s", "spread", "GB/s", "of one buffer", "of new memory"], rows)

    def prediction_table(self) -> str:
        all_of = {f"macrok, {Job(1, threads)}": seen for threads, seen in self.predictions.items()}
        all_of |= {XCOLUMNS: self.serial.all("predict")}
        theirs = min(self.serial.all("predict"), default=None)
        rows = []
        for name, seen in all_of.items():
            if seen:
                against = document.ratio(theirs / min(seen)) if theirs else "not measured"
                rows.append([name, f"{min(seen):.3f}", document.spread(seen), against])
            else:
                rows.append([name, "not measured", "", ""])
        return document.table(["predict", "microseconds a row", "spread", "against xcolumns"], rows)
