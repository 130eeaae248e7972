"""Parts of benches/compare.py, one idea a file."""
