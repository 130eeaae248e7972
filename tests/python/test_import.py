"""`macrok import` of what SciPy and NumPy save."""

import zipfile

import anndata.io
import h5py
import numpy as np
import pytest
import scipy.sparse as sp


def read(path, group):
    with h5py.File(path) as file:
        return anndata.io.read_elem(file[group])


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array])
def test_npz_arrives_unchanged(macrok, data, kind, compressed):
    sp.save_npz(macrok.folder / "P.npz", kind(data.marginals), compressed=compressed)
    sp.save_npz(macrok.folder / "Y.npz", kind(data.labels.astype(np.int8)), compressed=compressed)
    macrok.run("import", "labels=Y.npz", "marginals=P.npz", "--out", "out.h5")
    for group, expected in [("marginals", data.marginals), ("labels", data.labels)]:
        found = read(macrok.folder / "out.h5", group)
        assert isinstance(found, sp.csr_matrix) and found.dtype == np.float32
        np.testing.assert_array_equal(found.toarray(), expected.toarray())
        assert found.has_sorted_indices


def test_dense_npy_and_features(macrok, data):
    np.save(macrok.folder / "X.npy", data.marginals.toarray() - 0.5)
    sp.save_npz(macrok.folder / "Y.npz", data.labels.astype(bool))
    facts = macrok.facts("import", "features=X.npy", "labels=Y.npz", "--out", "out.h5")
    assert set(facts["groups"]) == {"features", "labels"}
    np.testing.assert_array_equal(read(macrok.folder / "out.h5", "features").toarray(), data.marginals.toarray() - 0.5)


def test_f64_is_rounded_to_f32_and_nothing_else(macrok):
    values = sp.csr_matrix(np.random.default_rng(0).uniform(size=(20, 30)))
    sp.save_npz(macrok.folder / "P.npz", values)
    macrok.run("import", "marginals=P.npz", "--out", "out.h5")
    np.testing.assert_array_equal(
        read(macrok.folder / "out.h5", "marginals").toarray(), values.toarray().astype(np.float32)
    )


def test_bad_probabilities_are_refused(macrok):
    sp.save_npz(macrok.folder / "P.npz", sp.csr_matrix(np.array([[0.5, 1.5]])))
    done = macrok.run("import", "marginals=P.npz", "--out", "out.h5", status=2)
    assert "1.5" in done.stderr
    assert not (macrok.folder / "out.h5").exists()


def _zip64(path, matrix):
    limit, zipfile.ZIP64_LIMIT = zipfile.ZIP64_LIMIT, 10
    try:
        sp.save_npz(path, matrix)
    finally:
        zipfile.ZIP64_LIMIT = limit


def _backwards(path, matrix):
    coo = matrix.tocoo()
    order = np.arange(coo.nnz)[::-1]
    reverse = sp.coo_matrix((coo.data[order], (coo.row[order].astype(np.int64), coo.col[order].astype(np.int64))), coo.shape)
    sp.save_npz(path, reverse)


@pytest.mark.parametrize(
    "name, write",
    [
        ("P.npz", _zip64),
        ("P.npz", _backwards),
        ("P.npz", lambda path, matrix: np.savez(path, matrix.toarray())),
        ("P.npy", lambda path, matrix: np.save(path, np.asfortranarray(matrix.toarray()))),
        ("P.npy", lambda path, matrix: np.save(path, matrix.toarray().astype(">f8"))),
        ("P.npy", lambda path, matrix: np.save(path, matrix.toarray().astype(np.float16))),
    ],
    ids=["zip64", "coo-backwards", "dense-npz", "fortran", "big-endian", "half"],
)
def test_unusual_arrays_are_read_too(macrok, name, write):
    matrix = sp.csr_matrix(np.array([[0, 0.5, 0, 1], [0, 0, 0, 0], [0.25, 0, 0, 0]], dtype=np.float32))
    write(macrok.folder / name, matrix)
    macrok.run("import", f"marginals={name}", "--out", "out.h5")
    np.testing.assert_array_equal(read(macrok.folder / "out.h5", "marginals").toarray(), matrix.toarray())


def test_other_sparse_formats_are_refused_with_the_remedy(macrok):
    sp.save_npz(macrok.folder / "P.npz", sp.bsr_matrix(np.eye(4)))
    done = macrok.run("import", "marginals=P.npz", "--out", "out.h5", status=2)
    assert "tocsr()" in done.stderr
