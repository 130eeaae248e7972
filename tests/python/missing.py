"""Skips tests on machines that lack something, except in CI."""

import os

import pytest


def missing(what):
    """Skips the test; fails it where `CI` is set, because everything must run there."""
    if os.environ.get("CI"):
        pytest.fail(f"missing: {what} (CI is set, so no test may be skipped for that)")
    pytest.skip(f"missing: {what}")
