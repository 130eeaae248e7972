"""Compares predictions and classifiers with their definitions."""

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

from files import read_classifier, read_predictions, top_k, write_classifier, write_data

STRATEGIES = ["top-k", "power-law", "log", "propensity", "macro-recall", "macro-balanced-accuracy"]


def predict(macrok, classifier, data, *more):
    macrok.run("predict", classifier, "--marginals", data, "--out", "pred.h5", "--force", *more)
    return read_predictions(macrok.folder / "pred.h5")


def check_whole(labels, shape, k):
    """Checks that each row has exactly k distinct labels, in order."""
    assert labels.shape == (shape[0], k)
    assert (np.diff(labels, axis=1) > 0).all()
    assert labels.min() >= 0 and labels.max() < shape[1]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_baseline_predicts_its_best_scores(macrok, data, strategy):
    macrok.run("baseline", strategy, "--labels", data.path, "-k", 4, "--out", "clf.h5")
    (slopes,), (intercepts,), weights = read_classifier(macrok.folder / "clf.h5")
    assert weights.tolist() == [1.0]
    labels, _, shape = predict(macrok, "clf.h5", data.path)
    check_whole(labels, shape, 4)
    np.testing.assert_array_equal(labels, top_k(data.marginals, slopes, intercepts, 4))


@pytest.mark.parametrize("k", [1, 3, 49, 50])
@pytest.mark.parametrize("seed", range(3))
def test_any_rule_predicts_its_best_scores_with_ties(macrok, data, k, seed):
    """Coefficients of few values make ties, and negative slopes let zero labels win."""
    random = np.random.default_rng(seed)
    slopes = random.integers(-2, 3, size=50) / 2
    intercepts = random.integers(-3, 3, size=50) / 4
    write_classifier(macrok.folder / "clf.h5", k, slopes, intercepts)
    labels, scores, shape = predict(macrok, "clf.h5", data.path)
    check_whole(labels, shape, k)
    np.testing.assert_array_equal(labels, top_k(data.marginals, slopes, intercepts, k))
    dense = data.marginals.toarray().astype(np.float64) * slopes + intercepts
    np.testing.assert_allclose(scores, np.take_along_axis(dense, labels, axis=1), rtol=1e-6, atol=1e-30)
    assert (scores != 0).all(), "SciPy would drop a stored zero, and the label with it"


def test_support_candidates_come_from_the_row(macrok, data):
    """With --candidates support zero labels only complete rows of fewer than k entries."""
    macrok.run(
        "baseline",
        "macro-balanced-accuracy",
        "--labels",
        data.path,
        "-k",
        4,
        "--candidates",
        "support",
        "--out",
        "c.h5",
    )
    labels, _, shape = predict(macrok, "c.h5", data.path)
    check_whole(labels, shape, 4)
    stored = data.marginals.toarray() > 0
    chosen = np.take_along_axis(stored, labels, axis=1).sum(axis=1)
    np.testing.assert_array_equal(chosen, np.minimum(stored.sum(axis=1), 4))


def test_a_mixture_draws_each_row_from_one_of_its_rules(macrok, data):
    random = np.random.default_rng(5)
    slopes, intercepts = random.uniform(0, 1, (3, 50)), random.uniform(-0.2, 0, (3, 50))
    weights = [0.5, 0.3, 0.2]
    write_classifier(macrok.folder / "clf.h5", 3, slopes, intercepts, weights)
    slopes, intercepts, _ = read_classifier(macrok.folder / "clf.h5")
    rules = [top_k(data.marginals, a, b, 3) for a, b in zip(slopes, intercepts, strict=True)]
    labels, _, _ = predict(macrok, "clf.h5", data.path, "--seed", 11)
    fits = np.array([(labels == rule).all(axis=1) for rule in rules])
    assert fits.any(axis=0).all()
    again, _, _ = predict(macrok, "clf.h5", data.path, "--seed", 11)
    np.testing.assert_array_equal(again, labels)
    other, _, _ = predict(macrok, "clf.h5", data.path, "--seed", 12)
    assert (other != labels).any()


@pytest.mark.parametrize("sampling", ["rule", "madow"])
def test_labels_are_drawn_with_their_probabilities(macrok, sampling):
    """Over 20,000 equal rows, the share of a label is the weight of the rules that choose it."""
    rows, k = 20_000, 2
    one = np.float32([[0.5, 0.4, 0.3, 0.2, 0.1, 0.0]])
    write_data(macrok.folder / "rows.h5", sp.csr_matrix(np.repeat(one, rows, axis=0)))
    chosen = np.array([[1, 1, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 0, 1]])
    weights = np.array([0.6, 0.3, 0.1])
    write_classifier(macrok.folder / "clf.h5", k, np.zeros((3, 6)), chosen, weights)
    labels, _, shape = predict(macrok, "clf.h5", "rows.h5", "--sampling", sampling)
    check_whole(labels, shape, k)
    chances = weights @ chosen
    found = np.bincount(labels.ravel(), minlength=6) / rows
    # Five standard deviations of a share of 20,000 draws.
    np.testing.assert_allclose(found, chances, atol=5 * np.sqrt(0.25 / rows))
    assert (found[chances == 0] == 0).all()


def test_a_fitted_classifier_can_be_read(macrok, data):
    facts = macrok.facts(
        "fit", "--marginals", data.path, "--labels", data.path, "-k", 3, "--metric", "macro-f1", "--out", "clf.h5"
    )
    slopes, intercepts, weights = read_classifier(macrok.folder / "clf.h5")
    assert slopes.shape == intercepts.shape == (facts["rules"], 50)
    assert slopes.dtype == intercepts.dtype == np.float32
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    with h5py.File(macrok.folder / "clf.h5") as file:
        assert file.attrs["k"] == 3
        assert file.attrs["metric"] == "macro-f1"
        assert file.attrs["candidates"] == "all"
        assert file.attrs["rows"] == 400
        np.testing.assert_array_equal(file["positives"][:], data.labels.sum(axis=0).A1)
        np.testing.assert_array_equal(file.attrs["utility"], facts["utilities"][1:])
        np.testing.assert_array_equal(file.attrs["step"], facts["steps"])
        np.testing.assert_array_equal(file.attrs["gap"], facts["gaps"])


def test_the_reported_utility_is_that_of_the_mixture_in_the_file(macrok, data):
    """Computes macro-F1 of the expected confusion tensor from the file alone."""
    facts = macrok.facts(
        "fit", "--marginals", data.path, "--labels", data.path, "-k", 3, "--metric", "macro-f1", "--out", "clf.h5"
    )
    truth = data.labels.toarray()
    hits, predicted = np.zeros(50), np.zeros(50)
    for slopes, intercepts, weight in zip(*read_classifier(macrok.folder / "clf.h5"), strict=True):
        chosen = np.zeros_like(truth)
        np.put_along_axis(chosen, top_k(data.marginals, slopes, intercepts, 3), 1, axis=1)
        hits += weight * (chosen * truth).sum(axis=0)
        predicted += weight * chosen.sum(axis=0)
    f1 = 2 * hits / np.maximum(predicted + truth.sum(axis=0), 1e-12)
    assert facts["utility"] == pytest.approx(f1.mean(), abs=1e-6)
    assert facts["utility"] >= facts["utilities"][0]
