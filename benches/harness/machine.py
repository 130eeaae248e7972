"""The machine on which the numbers were measured."""

import datetime
import importlib.metadata
import os
import platform
import subprocess
import time
from pathlib import Path


def first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return (done.stdout.splitlines() or ["unknown"])[0].strip()


def field(path: str, name: str) -> str:
    """The first `name: value` of a file in /proc."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return "unknown"
    values = (line.split(":", 1)[1].strip() for line in lines if line.startswith(name))
    return next(values, "unknown")


def caches() -> str:
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction":
            found.append(f"L{level} {size}")
    return ", ".join(found) or "unknown"


def memory() -> str:
    kibibytes = field("/proc/meminfo", "MemTotal").split()[0]
    return f"{int(kibibytes) / 2**20:.0f} GiB" if kibibytes.isdigit() else "unknown"


def huge_pages() -> str:
    try:
        text = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()
    except OSError:
        return "unknown"
    return text.split("[")[1].split("]")[0] if "[" in text else "unknown"


def busy(seconds: float = 1.0) -> float:
    """The fraction of all cores that other processes use now. The load average would include the preceding build."""

    def ticks() -> tuple[int, int]:
        every = [int(tick) for tick in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        return sum(every), every[3] + every[4]

    try:
        total, idle = ticks()
        time.sleep(seconds)
        total_after, idle_after = ticks()
    except (OSError, ValueError, IndexError):
        return float("nan")
    return 1 - (idle_after - idle) / max(total_after - total, 1)


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def commit() -> str:
    """The commit, and whether the sources differ from it."""
    changed = first_line("git", "status", "--porcelain", "src", "Cargo.toml", "Cargo.lock") != "unknown"
    return first_line("git", "rev-parse", "--short=12", "HEAD") + (" with changes" if changed else "")


def facts() -> dict[str, str]:
    packages = ("xcolumns", "numba", "numpy", "scipy")
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "processor": field("/proc/cpuinfo", "model name"),
        "cores": str(len(os.sched_getaffinity(0))),
        "caches": caches(),
        "memory": f"{memory()}, transparent huge pages: {huge_pages()}",
        "kernel": f"{platform.system()} {platform.release()}",
        "busy before the start": f"{busy():.0%} of the cores; numbers count only when that is next to nothing",
        "rustc": first_line("rustc", "--version"),
        "MPI": first_line("mpirun", "--version"),
        "Python": ", ".join([platform.python_version(), *(f"{name} {version(name)}" for name in packages)]),
    }
