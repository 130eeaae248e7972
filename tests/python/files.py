"""Writes and reads files of macrok with h5py, SciPy and AnnData."""

import anndata.io
import h5py
import numpy as np
import scipy.sparse as sp


def write_data(path, marginals=None, labels=None):
    """Writes a data file in AnnData's layout."""
    with h5py.File(path, "w") as file:
        for name, matrix in [("marginals", marginals), ("labels", labels)]:
            if matrix is not None:
                anndata.io.write_elem(file, name, matrix)


def write_parts(path, group, data, indices, indptr, shape):
    """Writes a CSR matrix from parts that SciPy might refuse."""
    with h5py.File(path, "a") as file:
        made = file.create_group(group)
        made["data"], made["indices"], made["indptr"] = data, indices, indptr
        made.attrs["shape"] = shape


def write_classifier(path, k, slopes, intercepts, weights=(1.0,)):
    with h5py.File(path, "w") as file:
        file["slopes"] = np.atleast_2d(np.asarray(slopes, dtype=np.float32))
        file["intercepts"] = np.atleast_2d(np.asarray(intercepts, dtype=np.float32))
        file["weights"] = np.asarray(weights, dtype=np.float64)
        file.attrs["k"] = k


def read_classifier(path):
    """Returns slopes and intercepts (rules x labels) and weights."""
    with h5py.File(path) as file:
        return file["slopes"][:], file["intercepts"][:], file["weights"][:]


def content(path):
    """Returns type, shape and bytes of every dataset and attribute of a file, except `seconds`, which may differ."""
    found = {}

    def add(name, values):
        values = np.asarray(values)
        bits = values.tolist() if values.dtype.hasobject else values.tobytes()
        found[name] = (values.dtype.str, values.shape, bits)

    def visit(name, item):
        for attribute in item.attrs:
            if attribute != "seconds":
                add(f"{name}@{attribute}", item.attrs[attribute])
        if isinstance(item, h5py.Dataset):
            add(name, item[()])

    with h5py.File(path) as file:
        visit("", file)
        file.visititems(visit)
    return found


def read_predictions(path):
    """Returns labels and scores of each row, as arrays with k columns, and the shape of the matrix."""
    with h5py.File(path) as file:
        matrix = anndata.io.read_elem(file["predictions"])
    assert isinstance(matrix, sp.csr_matrix)
    counts = np.diff(matrix.indptr)
    assert (counts == counts[0]).all(), "every row has the same number of labels"
    shape = (matrix.shape[0], counts[0])
    return matrix.indices.reshape(shape), matrix.data.reshape(shape), matrix.shape


def top_k(marginals, slopes, intercepts, k):
    """Returns the best labels by definition, scored in float64, the smaller of equally good ones first; sorted by label."""
    scores = np.float64(slopes) * np.float64(marginals.toarray()) + np.float64(intercepts)
    return np.sort(np.argsort(-scores, axis=1, kind="stable")[:, :k], axis=1)


def as_matrix(labels, columns):
    """Returns predicted labels (rows x k) as a 0/1 CSR matrix."""
    rows, k = labels.shape
    return sp.csr_matrix(
        (np.ones(labels.size, dtype=np.float32), labels.ravel(), np.arange(rows + 1) * k), shape=(rows, columns)
    )
