"""Quality of marginals, with the same definitions for every estimator."""

from pathlib import Path

import h5py
import numpy as np
import scipy.sparse as sp

BINS = 10


def read(path: Path, group: str) -> sp.csr_matrix:
    with h5py.File(path) as file:
        parts = file[group]
        return sp.csr_matrix(
            (parts["data"][:], parts["indices"][:], parts["indptr"][:]), shape=tuple(parts.attrs["shape"])
        )


def precision(marginals: sp.csr_matrix, labels: sp.csr_matrix, ks: tuple[int, ...] = (1, 3, 5)) -> list[float]:
    """Precision of the k largest marginals of each row; ties go to the smaller label."""
    hits = np.zeros(max(ks))
    for row in range(marginals.shape[0]):
        entries = slice(marginals.indptr[row], marginals.indptr[row + 1])
        columns = marginals.indices[entries]
        order = np.lexsort((columns, -marginals.data[entries]))[: max(ks)]
        found = np.isin(columns[order], labels.indices[labels.indptr[row] : labels.indptr[row + 1]])
        hits[: len(found)] += found
    return [hits[:k].sum() / k / marginals.shape[0] for k in ks]


def calibration_error(marginals: sp.csr_matrix, labels: sp.csr_matrix) -> float:
    """Expected calibration error of all stored marginals, in ten bins of equal width."""
    rows = np.repeat(np.arange(marginals.shape[0]), np.diff(marginals.indptr))
    true = np.asarray(labels[rows, marginals.indices]).ravel()
    bins = np.minimum((marginals.data * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, marginals.data, BINS) - np.bincount(bins, true, BINS)
    return float(np.abs(gaps).sum() / len(true))


def of(marginals: sp.csr_matrix, labels: sp.csr_matrix) -> dict[str, float]:
    first, third, fifth = precision(marginals, labels)
    return {"P@1": first, "P@3": third, "P@5": fifth, "ECE": calibration_error(marginals, labels)}
