"""Networks: speed relative to PyTorch with equal layers and batches in the same run, and the effect of the losses."""

import json
import sys
from pathlib import Path

from harness.document import ratio, table

from . import ours, timed
from .sets import DataSet

TITLE = "Networks"

HIDDEN, BATCH, EPOCHS, RATE, DROPOUT = 512, 128, 10, 0.001, 0.5
K = 5
METRICS = ("instance-precision", "macro-precision", "macro-recall", "macro-f1")
LOSSES = ("bce", "focal", "asymmetric")


def theirs(data: DataSet, threads: int) -> dict:
    worker = Path(__file__).with_name("torch_worker.py")
    command = [sys.executable, "-B", worker, data.h5("train"), data.h5("test"), threads]
    took = timed.run([*command, HIDDEN, BATCH, EPOCHS, RATE, DROPOUT], data.log)
    return json.loads(took.output.splitlines()[-1])


def same_epochs(data: DataSet, threads: int) -> dict:
    """The same number of epochs as PyTorch, on all rows, including the time of reading and writing."""
    options = ("--hidden", HIDDEN, "--batch", BATCH, "--learning-rate", RATE, "--dropout", DROPOUT)
    found = ours.measure(data, "mlp", (*options, "--validation", 0, "--epochs", EPOCHS), threads, "mlp-epochs")
    return found | {"epoch wall": found["train wall"] / EPOCHS, "epoch CPU": found["train CPU"] / EPOCHS}


def speed(data: DataSet, threads: int, log) -> str:
    mine = same_epochs(data, threads)
    rows = [["macrok mlp", mine]]
    try:
        torch = theirs(data, threads)
        rows.append([f"PyTorch {torch['version']}, fused Adam", torch])
        faster = ratio(torch["epoch wall"] / mine["epoch wall"])
        cpu = ratio(torch["epoch CPU"] / mine["epoch CPU"])
        remark = f"An epoch is {faster} as fast as PyTorch's, and its CPU time {cpu} as small."
    except timed.NotMeasured as why:
        remark = f"PyTorch: not measured: {why}"
    keys = ("P@1", "P@3", "P@5")
    cells = [
        [name, f"{found['epoch wall']:.3f}", f"{found['epoch CPU']:.3f}", *(f"{found[key]:.4f}" for key in keys)]
        for name, found in rows
    ]
    what = (
        f"{HIDDEN} hidden units, batch {BATCH}, dropout {DROPOUT}, learning rate {RATE}, {EPOCHS} epochs, cross-entropy, "
        f"{threads} threads. macrok's epoch is the whole command divided by the epochs."
    )
    text = f"{what}\n\n{table(['', 'epoch s', 'CPU s', *keys], cells)}\n\n{remark}"
    log(f"  {remark}")
    return text


def losses(data: DataSet, threads: int, log) -> str:
    """The results of macrok's defaults and of the k largest marginals."""
    rows = []
    classifier = data.folder / "top-k.h5"
    ours.facts(data, ["baseline", "top-k", "--labels", data.h5("train"), "-k", K, "--out", classifier])
    for name, estimator, options in [("plt", "plt", ()), *((f"mlp, {loss}", "mlp", ("--loss", loss)) for loss in LOSSES)]:
        found = ours.measure(data, estimator, options, threads, "losses")
        marginals = data.folder / "losses-test.h5"
        _, told = ours.facts(data, ["evaluate", classifier, "--marginals", marginals, "--labels", marginals])
        figures = [found[key] for key in ("P@1", "P@3", "P@5", "ECE")]
        figures += [told["metrics"][metric]["mean"] for metric in METRICS[1:]]
        rows.append([name, f"{found['train wall']:.1f}", *(f"{figure:.4f}" for figure in figures)])
        log(f"  {' '.join(rows[-1])}")
    header = ["defaults", "train s", "P@1", "P@3", "P@5", "ECE", *(f"{metric} at {K}" for metric in METRICS[1:])]
    return table(header, rows)


def report(data: DataSet, threads: int, log) -> str:
    """Both parts, for the data set that is small and dense enough for networks."""
    if data.name != "delicious":
        return ""
    return f"### {data.name}\n\n{losses(data, threads, log)}\n\n{speed(data, threads, log)}"
