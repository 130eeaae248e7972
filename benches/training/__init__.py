"""The parts of `make bench-train`: one file a comparison."""
