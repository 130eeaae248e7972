"""napkinXC in a separate process: trains with default options, predicts the largest marginals, prints figures as JSON.

Arguments: text of train, text of test, HDF5 of test (for its labels), a folder for the model, threads, how many.
"""

import json
import resource
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from napkinxc.datasets import load_libsvm_file
from napkinxc.models import PLT

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from training import quality, timed  # noqa: E402


def clock() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), used.ru_utime + used.ru_stime


def main() -> None:
    train, test, labels_file, folder = (Path(argument) for argument in sys.argv[1:5])
    threads, keep = int(sys.argv[5]), int(sys.argv[6])
    shutil.rmtree(folder, ignore_errors=True)
    features, labels = load_libsvm_file(str(train))
    asked, _ = load_libsvm_file(str(test))
    model = PLT(str(folder), threads=threads, seed=1)
    start = clock()
    model.fit(features, labels)
    trained = clock()
    model.load()
    loaded = clock()

    def predict():
        before = clock()
        return model.predict_proba(asked, top_k=keep), [after - start for after, start in zip(clock(), before)]

    found, predicted = timed.fastest(predict, lambda it: it[1][0])
    truth = quality.read(labels_file, "labels")
    rows = np.repeat(np.arange(len(found)), [len(row) for row in found])
    columns = np.array([label for row in found for label, _ in row])
    values = np.array([value for row in found for _, value in row], dtype=np.float32)
    marginals = sp.csr_matrix((values, (rows, columns)), shape=truth.shape)
    figures = {
        "train wall": trained[0] - start[0],
        "train CPU": trained[1] - start[1],
        "top wall": loaded[0] - trained[0] + predicted[0],
        "top CPU": loaded[1] - trained[1] + predicted[1],
        "estimate": predicted[0],
        "rows": truth.shape[0],
        "model bytes": sum(path.stat().st_size for path in folder.iterdir()),
    }
    print(json.dumps(figures | quality.of(marginals, truth)))


if __name__ == "__main__":
    main()
