"""Parts of benches/compare.py, one idea per file."""
