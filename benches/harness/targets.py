"""The performance aims and whether this run reached them. They apply to the full size on two idle cores."""

from collections.abc import Iterator

from . import document
from .checkpoints import Checkpoints
from .growth import Point
from .side_by_side import SideBySide

Row = tuple[str, str, float, bool]


def at_least(what: str, aim: float, found: float) -> Row:
    return what, f"at least {aim:g}", found, found >= aim


def at_most(what: str, aim: float, found: float) -> Row:
    return what, f"at most {aim:g}", found, found <= aim


def rows(compared: SideBySide, cases: list[Point], checkpoints: Checkpoints) -> Iterator[Row]:
    threads, ranks = compared.ours[1], compared.ours[2]
    if not threads.runs:
        return
    if compared.serial.runs:
        for what, figure, aim in [("iteration", "iteration", 30), ("whole command", "whole", 15)]:
            found = compared.serial.best(figure) / threads.best(figure)
            yield at_least(f"{what}: times as fast as xcolumns serial", aim, found)
    if bandwidth := compared.bandwidth.get(threads.cores):
        kept = threads.runs[0]["bytes"]
        for what, size in [("bytes as kept", kept), ("8 B an entry", compared.file_bytes)]:
            yield at_least(f"pass: of the read bandwidth, {what}", 0.2, size / threads.best("pass") / bandwidth)
    if ranks.runs:
        yield at_most("iteration: 2 x 1 over 1 x 2", 1.1, ranks.best("iteration") / threads.best("iteration"))
    for keep, into in [(False, "one buffer"), (True, "new memory")]:
        found = min(compared.reads[keep]) / threads.best("load")
        yield at_least(f"load: of the rate of a plain read into {into}", 0.7, found)
    peak = max(threads.all("peak")) / threads.runs[0]["bytes"]
    yield at_most("peak memory over bytes a pass", 1.25, peak)
    if not checkpoints.problem:
        yield at_most("checkpoint: per cent of an iteration that waits for it", 2, checkpoints.waited())
    if len(cases) == 2 and all(case.runs for case in cases):
        few, many = cases
        found = many.nanoseconds("iteration") / few.nanoseconds("iteration")
        yield at_most(f"iteration: {many.value:,} labels over {few.value:,}", 2.5, found)
        yield at_most(f"{many.value:,} labels: GiB of peak memory", 24, many.peak() / 2**30)


def report(compared: SideBySide, cases: list[Point], checkpoints: Checkpoints) -> str:
    """Rows are about macrok with one rank and two threads unless they say otherwise."""
    lines = [
        [what, aim, f"{found:.2f}", "yes" if reached else "**no**"]
        for what, aim, found, reached in rows(compared, cases, checkpoints)
    ]
    return document.table(["aim (1 x 2)", "wanted", "found", "reached"], lines)
