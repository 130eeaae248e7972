"""Known failures of the Python tool, which macrok does not have."""

import numpy as np
import pytest
import scipy.sparse as sp

from files import read_classifier, read_predictions, top_k, write_classifier, write_data, write_parts


def fit(macrok, path, *more, k=3, metric="macro-f1", out="clf.h5"):
    return macrok.facts("fit", "--marginals", path, "--labels", path, "-k", k, "--metric", metric, "--out", out, *more)


def test_k_may_be_the_number_of_labels(macrok, data):
    facts = fit(macrok, data.path, k=50)
    assert facts["k"] == facts["m"] == 50
    macrok.run("predict", "clf.h5", "--marginals", data.path, "--out", "pred.h5")
    labels, _, _ = read_predictions(macrok.folder / "pred.h5")
    np.testing.assert_array_equal(labels, np.tile(np.arange(50), (400, 1)))


def test_k_above_the_number_of_labels_is_refused(macrok, data):
    done = macrok.run("fit", "--marginals", data.path, "--labels", data.path, "-k", 51, "--out", "clf.h5", status=2)
    assert "51" in done.stderr and "50" in done.stderr


@pytest.mark.parametrize("value", [np.nan, 40.0, -2.0, np.inf])
def test_invalid_probabilities_are_refused(macrok, data, value):
    bad = data.marginals.copy()
    bad.data[100] = value
    row = int(np.searchsorted(bad.indptr, 100, side="right")) - 1
    write_data(macrok.folder / "bad.h5", bad, data.labels)
    done = macrok.run("fit", "--marginals", "bad.h5", "--labels", "bad.h5", "-k", 3, "--out", "clf.h5", status=2)
    assert f"row {row}" in done.stderr and f"column {bad.indices[100]}" in done.stderr
    assert not (macrok.folder / "clf.h5").exists()


def test_short_and_empty_rows_get_k_distinct_labels(macrok, data):
    fit(macrok, data.path, k=5)
    macrok.run("predict", "clf.h5", "--marginals", data.path, "--out", "pred.h5")
    labels, _, _ = read_predictions(macrok.folder / "pred.h5")
    assert np.diff(data.marginals.indptr).min() == 0
    assert labels.shape == (400, 5)
    assert (np.diff(labels, axis=1) > 0).all()


def test_duplicate_entries_are_refused(macrok, data):
    path = macrok.folder / "twice.h5"
    write_parts(path, "marginals", np.float32([0.5, 0.25, 0.25]), [0, 1, 1], [0, 1, 3], [2, 3])
    write_parts(path, "labels", np.float32([1]), [1], [0, 0, 1], [2, 3])
    done = macrok.run("fit", "--marginals", path, "--labels", path, "-k", 1, "--out", "clf.h5", status=2)
    assert "row 1" in done.stderr and "column 1 twice" in done.stderr


def test_a_label_of_probability_zero_can_win(macrok):
    """Label 2 is never stored, but its intercept is the largest."""
    marginals = sp.csr_matrix(np.float32([[0.3, 0.2, 0.0], [0.1, 0.9, 0.0]]))
    write_data(macrok.folder / "rows.h5", marginals)
    write_classifier(macrok.folder / "clf.h5", 1, [1, 1, 1], [0, 0, 0.5])
    macrok.run("predict", "clf.h5", "--marginals", "rows.h5", "--out", "pred.h5")
    labels, _, _ = read_predictions(macrok.folder / "pred.h5")
    assert labels.ravel().tolist() == [2, 1]


@pytest.mark.parametrize("metric", ["macro-f1", "macro-recall", "macro-precision"])
def test_labels_without_positives_do_not_stall_the_fit(macrok, data, metric):
    """Even if ten labels have no positives, the fit must improve on top-k."""
    truth = data.labels.toarray()
    truth[:, 5:15] = 0
    write_data(macrok.folder / "unseen.h5", data.marginals, sp.csr_matrix(truth))
    facts = fit(macrok, macrok.folder / "unseen.h5", metric=metric)
    assert facts["utility"] > facts["utilities"][0] + 0.01
    slopes, intercepts, _ = read_classifier(macrok.folder / "clf.h5")
    assert np.isfinite(slopes).all() and np.isfinite(intercepts).all()


@pytest.mark.parametrize("metric", ["macro-gmean", "macro-hmean", "gmean-labels(recall)", "min-labels(recall)"])
def test_roots_and_worst_labels_leave_finite_rules(macrok, data, metric):
    facts = fit(macrok, data.path, metric=metric)
    assert np.isfinite(facts["utilities"]).all()
    slopes, intercepts, weights = read_classifier(macrok.folder / "clf.h5")
    assert np.isfinite(slopes).all() and np.isfinite(intercepts).all()
    assert weights.sum() == pytest.approx(1, abs=1e-12)


def test_a_step_of_one_is_found(macrok, data):
    """Macro-recall is linear, so one full step leads to the closed form and removes the initial rule."""
    facts = fit(macrok, data.path, metric="macro-recall")
    assert facts["steps"][0] == 1.0
    assert facts["rules"] == 1
    (slopes,), (intercepts,), _ = read_classifier(macrok.folder / "clf.h5")
    macrok.run("baseline", "macro-recall", "--labels", data.path, "-k", 3, "--out", "closed.h5")
    (closed,), (zero,), _ = read_classifier(macrok.folder / "closed.h5")
    np.testing.assert_array_equal(
        top_k(data.marginals, slopes, intercepts, 3)[2:], top_k(data.marginals, closed, zero, 3)[2:]
    )


def test_an_existing_output_is_refused(macrok, data):
    fit(macrok, data.path)
    before = (macrok.folder / "clf.h5").read_bytes()
    done = macrok.run("fit", "--marginals", data.path, "--labels", data.path, "-k", 3, "--out", "clf.h5", status=2)
    assert "--force" in done.stderr
    assert (macrok.folder / "clf.h5").read_bytes() == before
