"""Aligned Markdown tables, and the section of a file that a command owns."""

from pathlib import Path


def table(header: list[str], rows: list[list[str]]) -> str:
    """Align the first column left and numbers right."""
    widths = [max(3, *(len(row[column]) for row in [header, *rows])) for column in range(len(header))]

    def line(cells: list[str]) -> str:
        first = cells[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "| " + " | ".join([first, *rest]) + " |"

    rule = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([line(header), line(rule), *map(line, rows)])


def replace_section(path: Path, name: str, text: str) -> None:
    """Put `text` between the markers of `name`, or at the end of the file if it has no such markers.

    Sizes have sections of their own: a quick run does not wipe out a long one.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    old = path.read_text() if path.exists() else ""
    before, found, rest = old.partition(begin)
    after = rest.partition(end)[2] if found else "\n"
    before = before if found or not before else before.rstrip("\n") + "\n\n"
    path.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}")


def seconds(value: float) -> str:
    return f"{value:.5f}" if value < 0.1 else f"{value:.3f}"


def size(value: float) -> str:
    return f"{value / 2**30:.2f} GiB" if value >= 2**30 else f"{value / 2**20:.1f} MiB"


def ratio(value: float) -> str:
    return f"{value:.1f} x" if value < 1000 else f"{value:,.0f} x"


def spread(values: list[float]) -> str:
    """How much slower the slowest run was than the fastest: the noise of the machine."""
    return f"+{(max(values) / min(values) - 1) * 100:.0f}%" if len(values) > 1 else "one run"
