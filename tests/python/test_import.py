"""`macrok import` of what SciPy and NumPy save."""

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
