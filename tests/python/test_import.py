"""`macrok import` of files that SciPy and NumPy save."""

import gzip
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
def test_npz_is_imported_unchanged(macrok, data, kind, compressed):
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


def test_f64_is_rounded_to_f32(macrok):
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
def test_unusual_arrays_are_read(macrok, name, write):
    matrix = sp.csr_matrix(np.array([[0, 0.5, 0, 1], [0, 0, 0, 0], [0.25, 0, 0, 0]], dtype=np.float32))
    write(macrok.folder / name, matrix)
    macrok.run("import", f"marginals={name}", "--out", "out.h5")
    np.testing.assert_array_equal(read(macrok.folder / "out.h5", "marginals").toarray(), matrix.toarray())


def test_other_sparse_formats_are_refused_with_the_remedy(macrok):
    sp.save_npz(macrok.folder / "P.npz", sp.bsr_matrix(np.eye(4)))
    done = macrok.run("import", "marginals=P.npz", "--out", "out.h5", status=2)
    assert "tocsr()" in done.stderr


def _as_napkinxc_prints(matrix):
    """Writes `label:score` pairs, largest first, with six digits and a blank after each, like its `predict`."""
    lines = []
    for row in range(matrix.shape[0]):
        entries = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]], matrix.data[matrix.indptr[row] : matrix.indptr[row + 1]]
        pairs = sorted(zip(*entries), key=lambda pair: (-pair[1], pair[0]))
        lines.append("".join(f"{label}:{score:.6g} " for label, score in pairs))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("gzipped", [False, True])
def test_predictions_as_text_are_imported_with_their_labels(macrok, data, gzipped):
    text = _as_napkinxc_prints(data.marginals).encode()
    (macrok.folder / "predictions.txt").write_bytes(gzip.compress(text) if gzipped else text)
    sp.save_npz(macrok.folder / "Y.npz", data.labels)
    macrok.run("import", "labels=Y.npz", "marginals=predictions.txt", "--out", "out.h5")
    found = read(macrok.folder / "out.h5", "marginals")
    assert found.shape == data.labels.shape
    np.testing.assert_allclose(found.toarray(), data.marginals.toarray(), rtol=1e-5)
    macrok.run("fit", "--marginals", "out.h5", "--labels", "out.h5", "-k", "3", "--out", "clf.h5")


def test_scores_outside_0_to_1_are_refused_with_their_line(macrok):
    (macrok.folder / "p.txt").write_text("0:0.5\n\n1:0.25 2:-3.5\n")
    done = macrok.run("import", "marginals=p.txt", "--out", "out.h5", status=2)
    assert "p.txt:3: label 2 has the score -3.5" in done.stderr and "--clamp" in done.stderr


def test_a_python_model_is_imported_and_its_calibration_agrees_with_numpy(macrok):
    """Imports probabilities of scikit-learn from npz, and compares the calibration error with NumPy."""
    from sklearn.datasets import make_multilabel_classification
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    features, labels = make_multilabel_classification(n_samples=600, n_features=30, n_classes=12, random_state=0)
    model = OneVsRestClassifier(LogisticRegression(C=10.0)).fit(features[:300], labels[:300])
    marginals = model.predict_proba(features[300:]).astype(np.float32)
    labels = labels[300:]
    sp.save_npz(macrok.folder / "P.npz", sp.csr_matrix(marginals))
    sp.save_npz(macrok.folder / "Y.npz", sp.csr_matrix(labels))
    macrok.run("import", "labels=Y.npz", "marginals=P.npz", "--out", "out.h5")
    found = macrok.facts("inspect", "out.h5")["calibration"]

    def gaps(bins):
        return sum(abs(marginals[bins == b].sum(dtype=float) - labels[bins == b].sum()) for b in np.unique(bins))

    width = np.minimum((marginals.astype(float) * 10).astype(int), 9)
    assert found["error"] == pytest.approx(gaps(width) / marginals.size, abs=1e-9)
    edges = [bin["low"] for bin in found["curve"]][1:]
    curve = np.searchsorted(edges, marginals.astype(float), side="right")
    assert found["error_relative"] == pytest.approx(gaps(curve) / labels.sum(), abs=1e-7)
    counts = [bin["entries"] for bin in found["curve"]]
    np.testing.assert_array_equal(counts, np.bincount(curve.ravel(), minlength=len(counts)))
