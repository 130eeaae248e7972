"""One fit and one prediction of xcolumns, run as a separate process; prints its figures as JSON.

Importing and compiling (numba, at first use) are done before the clock starts, on a small random matrix of the
same types: what is timed is loading the npz files, the fit, and the prediction.
"""

import importlib.util
import json
import os
import sys
import time
from pathlib import Path


def peak_memory() -> int:
    """Peak resident size (VmHWM), as macrok reports it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def has_parallel_mode() -> bool:
    """Whether this version has a parallel mode. Releases up to 0.0.2 ignore the variable and run serially."""
    package = importlib.util.find_spec("xcolumns")
    if package is None:
        return True  # importing it will say that it is missing
    source = Path(package.origin).with_name("numba_csr_functions.py")
    return "XCOLUMNS_NUMBA_PARALLEL" in source.read_text()


def main(marginals: str, labels: str, k: int, iterations: int, epsilon: float, tolerance: float, rows: int) -> dict:
    if os.environ["XCOLUMNS_NUMBA_PARALLEL"] == "1" and not has_parallel_mode():
        return {"not_measured": "the installed release of xcolumns has no parallel mode"}
    try:
        import numba
        import numpy as np
        import scipy.sparse as sp
        from xcolumns.frank_wolfe import find_classifier_using_fw
        from xcolumns.metrics import macro_f1_score_on_conf_matrix
    except ImportError as missing:
        return {"not_measured": f"xcolumns cannot be imported ({missing})"}

    def metric(tp, fp, fn, tn):
        return macro_f1_score_on_conf_matrix(tp, fp, fn, tn, epsilon=epsilon)

    def fit(marginals, labels):
        return find_classifier_using_fw(
            labels, marginals, metric, k, max_iters=iterations, init_classifier="top", skip_tn=True,
            alpha_uniform_search_step=tolerance, return_meta=True,
        )  # fmt: skip

    small = sp.random(200, max(50, 4 * k), density=0.5, format="csr", dtype=np.float32, rng=np.random.default_rng(0))
    truth = small.copy()
    truth.data = np.float32(truth.data > 0.5)
    truth.eliminate_zeros()
    warmed, _ = fit(small, truth)
    warmed.predict(small, seed=0)

    start = time.perf_counter()
    marginals, labels = sp.load_npz(marginals), sp.load_npz(labels)
    loaded = time.perf_counter()
    classifier, meta = fit(marginals, labels)
    fitted = time.perf_counter()
    peak = peak_memory()
    rows = min(rows, marginals.shape[0])
    some = marginals[:rows]
    begin = time.perf_counter()
    classifier.predict(some, seed=0)
    predicted = time.perf_counter()
    # One pass for the initial classifier and one for every iteration. A last iteration whose step was too small
    # also made its pass, although its classifier was discarded.
    passes = 1 + min(len(classifier.p), iterations)
    return {
        "iteration": (fitted - loaded) / passes,
        "fit_a_pass": (fitted - loaded) / passes,
        "whole": fitted - start,
        "load": loaded - start,
        "passes": passes,
        "utility": float(meta["utilities"][-1]),
        "peak": peak,
        "predict": (predicted - begin) / rows * 1e6,
        "versions": {"numba": numba.__version__, "numpy": np.__version__},
    }


if __name__ == "__main__":
    values = sys.argv[1:]
    print(json.dumps(main(*values[:2], *map(int, values[2:4]), *map(float, values[4:6]), int(values[6]))))
