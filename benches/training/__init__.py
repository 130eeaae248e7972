"""The parts of `make bench-train`: one file per comparison."""
