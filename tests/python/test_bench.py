"""The harness of `make bench` runs on little data, and its tables are complete."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).resolve().parents[2] / "benches" / "compare.py"
READ = {"bytes": 1, "rounds": 1, "bytes_per_second": 3e10, "slowest_bytes_per_second": 2e10}


@pytest.fixture
def bench(binary, tmp_path):
    """Runs the harness and returns its report. `cargo bench` would build the real probe of memory."""
    probe = tmp_path / "probe.py"
    probe.write_text(f"print({json.dumps(json.dumps({'reads': [READ | {'threads': n} for n in (1, 2)]}))})")

    def run(*arguments):
        out = tmp_path / "performance.md"
        command = [
            sys.executable, "-B", HARNESS, "--macrok", binary, "--size", "tiny", "--folder", tmp_path / "data",
            "--out", out, "--bandwidth", f"{sys.executable} {probe}", *arguments,
        ]  # fmt: skip
        # Short fits end before their checkpoints are written, unless they wait for them.
        env = {**os.environ, "MACROK_TEST_FLUSH": "1"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=env)
        assert done.returncode == 0, done.stderr
        return out.read_text()

    return run


def lines_of(text, first_cell):
    return [line for line in text.splitlines() if line.startswith(f"| {first_cell} ")]


def test_every_line_of_every_table_is_there(bench, tmp_path):
    (tmp_path / "performance.md").write_text("# by hand\n")
    text = bench()
    assert text.startswith("# by hand\n\n<!-- make bench BENCH_SIZE=tiny: begin -->\n")
    assert text.endswith("<!-- make bench BENCH_SIZE=tiny: end -->\n")
    # In the tables of the comparison, of loading and of prediction.
    assert len(lines_of(text, "xcolumns, serial")) == 3
    assert len(lines_of(text, "xcolumns, 2 threads")) == 1
    for job in ["1 x 1", "1 x 2"]:
        assert len(lines_of(text, f"macrok, {job}")) == 3
    for job in ["1 x 1", "1 x 2", "2 x 1", "2 x 2"]:
        assert len(lines_of(text, job)) == 1, "ranks x threads"
    compared = lines_of(text, "macrok, 1 x 1")[0]
    assert " x |" in compared and "not measured" not in compared
    for grown in ["500", "1,000", "2,000", "30", "60", "300", "1", "5"]:
        assert lines_of(text, grown), f"growth: {grown}"
    assert len(lines_of(text, "iteration: times as fast as xcolumns serial")) == 1, "aims"
    assert len(lines_of(text, "checkpoint: per cent of an iteration that waits for it")) == 1, "aims"
    written = lines_of(text, "every iteration")[0].split("|")[4]
    assert 0 < int(written) <= 21 and lines_of(text, "none"), "checkpoints"
    for fact in ["processor", "rustc", "Python", "commit", "command"]:
        assert f"- {fact}: " in text
    left = {path.name for path in (tmp_path / "data").glob("*.h5")}
    assert left == {"n2000-m300-z20.h5", "clf.h5"}, "the files of the growth tables are removed"

    # A second run replaces the section and reuses the data.
    made = (tmp_path / "data" / "n2000-m300-z20.h5").stat().st_mtime_ns
    again = bench("--no-growth")
    assert again.count("BENCH_SIZE=tiny: begin") == 1 and again.startswith("# by hand\n\n")
    assert "### Growth" not in again
    assert (tmp_path / "data" / "n2000-m300-z20.h5").stat().st_mtime_ns == made


def test_parts_that_cannot_run_are_reported(bench, tmp_path, monkeypatch):
    (tmp_path / "shadow" / "xcolumns").mkdir(parents=True)
    (tmp_path / "shadow" / "xcolumns" / "__init__.py").write_text("raise ImportError('none here')")
    (tmp_path / "shadow" / "xcolumns" / "numba_csr_functions.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "shadow"))
    text = bench("--no-growth", "--bandwidth", "false")
    assert "xcolumns, serial: not measured: xcolumns cannot be imported (none here)" in text
    assert "Read bandwidth: not measured" in text
    assert len(lines_of(text, "macrok, 1 x 1")) == 3
