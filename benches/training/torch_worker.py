"""PyTorch in a separate process: the same network as macrok's, for some epochs; prints figures as JSON.

Arguments: HDF5 of train, HDF5 of test, threads, hidden units, batch, epochs, learning rate, dropout.
"""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from training import quality  # noqa: E402


def clock() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), used.ru_utime + used.ru_stime


def main() -> None:
    train, test = (Path(argument) for argument in sys.argv[1:3])
    threads, hidden, batch, epochs = (int(argument) for argument in sys.argv[3:7])
    rate, dropout = (float(argument) for argument in sys.argv[7:9])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    # Dense matrices, with which PyTorch is fastest at some hundreds of features.
    features, labels = (
        torch.from_numpy(quality.read(train, group).astype(np.float32).toarray()) for group in ("features", "labels")
    )
    layers = [torch.nn.Linear(features.shape[1], hidden), torch.nn.ReLU(), torch.nn.Dropout(dropout)]
    network = torch.nn.Sequential(*layers, torch.nn.Linear(hidden, labels.shape[1]))
    # The fastest Adam of PyTorch.
    adam = torch.optim.Adam(network.parameters(), lr=rate, fused=True)
    loss_of = torch.nn.functional.binary_cross_entropy_with_logits
    times = []
    for _ in range(epochs):
        start = clock()
        total = 0.0
        for rows in torch.randperm(len(features)).split(batch):
            adam.zero_grad(set_to_none=True)
            loss = loss_of(network(features[rows]), labels[rows])
            loss.backward()
            adam.step()
            total += loss.item() * len(rows)
        done = clock()
        times.append((done[0] - start[0], done[1] - start[1]))
    network.eval()
    truth = quality.read(test, "labels")
    with torch.no_grad():
        asked = torch.from_numpy(quality.read(test, "features").astype(np.float32).toarray())
        marginals = torch.sigmoid(network(asked)).numpy()
    # The first epoch is a warm-up.
    kept = times[1:] or times
    figures = {
        "epoch wall": sum(wall for wall, _ in kept) / len(kept),
        "epoch CPU": sum(cpu for _, cpu in kept) / len(kept),
        "version": torch.__version__,
    }
    print(json.dumps(figures | quality.of(sp.csr_matrix(marginals), truth)))


if __name__ == "__main__":
    main()
