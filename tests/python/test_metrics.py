"""Compares `evaluate` with scikit-learn, xcolumns, and definitions in NumPy."""

import json

import anndata.io
import h5py
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics
import xcolumns.metrics

from conftest import random_data
from files import as_matrix, read_predictions, write_data

K = 3


@pytest.fixture
def judged(macrok, data):
    """Predictions, true labels, and macrok's metrics."""
    macrok.run("baseline", "power-law", "--labels", data.path, "-k", K, "--out", "clf.h5")
    macrok.run("predict", "clf.h5", "--marginals", data.path, "--out", "pred.h5")
    train = random_data(instances=300, seed=2)
    write_data(macrok.folder / "train.h5", labels=train.labels)
    facts = macrok.facts("evaluate", "--predictions", "pred.h5", "--labels", data.path, "--train-labels", "train.h5")
    assert (facts["k"], facts["n"], facts["m"], facts["repeats"]) == (K, 400, 50, 1)
    labels, scores, shape = read_predictions(macrok.folder / "pred.h5")
    data.scores = sp.csr_matrix((scores.ravel(), labels.ravel(), np.arange(shape[0] + 1) * K), shape=shape)
    data.predicted = as_matrix(labels, shape[1])
    data.train = train.labels
    data.metrics = {name: value["mean"] for name, value in facts["metrics"].items()}
    assert (data.predicted.sum(axis=0) == 0).any() and (data.labels.sum(axis=0) == 0).any()
    return data


def dense(judged):
    return judged.labels.toarray().astype(int), judged.predicted.toarray().astype(int)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_scikit_learn_agrees(judged, average):
    truth, predicted = dense(judged)
    functions = {
        "precision": sklearn.metrics.precision_score,
        "recall": sklearn.metrics.recall_score,
        "f1": sklearn.metrics.f1_score,
        "fbeta(2)": lambda *args, **named: sklearn.metrics.fbeta_score(*args, beta=2, **named),
        "jaccard": sklearn.metrics.jaccard_score,
    }
    for name, function in functions.items():
        expected = function(truth, predicted, average=average, zero_division=0)
        assert judged.metrics[f"{average}-{name}"] == pytest.approx(expected, abs=1e-5), name


def test_scikit_learn_agrees_on_instances(judged):
    truth, predicted = dense(judged)
    metrics = judged.metrics
    assert metrics["hamming"] == pytest.approx(sklearn.metrics.hamming_loss(truth, predicted), abs=1e-12)
    for name in ["precision", "recall", "f1"]:
        function = getattr(sklearn.metrics, f"{name}_score")
        expected = function(truth, predicted, average="samples", zero_division=0)
        assert metrics[f"instance-{name}"] == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_xcolumns_agrees(judged, average):
    names = {
        "precision": "precision",
        "recall": "recall",
        "f1": "f1_score",
        "jaccard": "jaccard_score",
        "balanced-accuracy": "balanced_accuracy",
        "gmean": "gmean",
    }
    truth, predicted = (matrix.astype(np.float64) for matrix in dense(judged))
    for ours, theirs in names.items():
        function = getattr(xcolumns.metrics, f"{average}_{theirs}")
        assert judged.metrics[f"{average}-{ours}"] == pytest.approx(
            function(truth, predicted, epsilon=1e-9), abs=1e-5
        ), ours


def test_xcolumns_agrees_on_other_metrics(judged):
    truth, predicted = (matrix.astype(np.float64) for matrix in dense(judged))
    metrics = judged.metrics
    assert metrics["coverage"] == pytest.approx(xcolumns.metrics.coverage(truth, predicted), abs=1e-12)
    assert metrics["instance-precision"] == pytest.approx(
        xcolumns.metrics.precision_at_k(truth, predicted, k=K), abs=1e-9
    )
    # 0 / 0 is NaN in xcolumns and 0 in macrok.
    with np.errstate(invalid="ignore"):
        hmean = np.nan_to_num(xcolumns.metrics.binary_hmean(truth, predicted, epsilon=1e-9))
    assert metrics["macro-hmean"] == pytest.approx(hmean.mean(), abs=1e-5)


def test_accuracy_and_auc_agree_with_their_definitions(judged):
    truth, predicted = dense(judged)
    for average in ["macro", "micro"]:
        assert judged.metrics[f"{average}-accuracy"] == pytest.approx((truth == predicted).mean(), abs=1e-12)
    both = [j for j in range(truth.shape[1]) if 0 < truth[:, j].sum() < len(truth)]
    # A label without positives has AUC 0 in macrok and none in scikit-learn.
    expected = sum(sklearn.metrics.roc_auc_score(truth[:, j], predicted[:, j]) for j in both) / truth.shape[1]
    assert judged.metrics["macro-auc"] == pytest.approx(expected, abs=1e-5)


def test_ndcg_agrees_with_its_definition(judged):
    total = 0.0
    for row in range(judged.labels.shape[0]):
        relevant = set(judged.labels[row].indices)
        if not relevant:
            continue
        scores = judged.scores[row]
        order = scores.indices[np.argsort(-scores.data, kind="stable")]
        discounts = 1 / np.log2(np.arange(2, K + 2))
        gain = sum(discount for label, discount in zip(order, discounts, strict=True) if label in relevant)
        total += gain / discounts[: min(K, len(relevant))].sum()
    assert judged.metrics["ndcg"] == pytest.approx(total / judged.labels.shape[0], abs=1e-9)


def test_propensity_scored_precision_agrees_with_its_definition(judged):
    """Gain over the best possible gain (Jain et al. 2016), as in the Extreme Classification repository."""
    a, b = 0.55, 1.5
    instances = judged.train.shape[0]
    counts = judged.train.toarray().sum(axis=0)
    c = (np.log(instances) - 1) * (b + 1) ** a
    inverse = 1 + c * (counts + b) ** -a
    truth, predicted = dense(judged)
    gain = (truth * predicted * inverse).sum()
    best = sum(np.sort(row * inverse)[::-1][:K].sum() for row in truth)
    assert judged.metrics["ps-precision"] == pytest.approx(gain / best, abs=1e-9)


def test_mean_and_deviation_over_draws_agree_with_numpy(macrok, data):
    """`evaluate` of a classifier summarises several draws of predictions."""
    macrok.run(
        "fit", "--marginals", data.path, "--labels", data.path, "-k", K, "--metric", "macro-f1", "--step", "classic",
        "--max-iters", 5, "--out", "clf.h5",
    )  # fmt: skip
    drawn = macrok.facts("evaluate", "clf.h5", "--marginals", data.path, "--labels", data.path, "--repeats", 200)
    exact = macrok.facts("evaluate", "clf.h5", "--marginals", data.path, "--labels", data.path, "--expected")
    assert drawn["repeats"] == 200
    for name in ["instance-precision", "instance-recall", "ndcg", "hamming", "ps-precision"]:
        found, expected = drawn["metrics"][name], exact["metrics"][name]
        assert found["std"] > 0
        assert found["mean"] == pytest.approx(expected["mean"], abs=5 * found["std"] / np.sqrt(200)), name
        assert expected["std"] == 0


@pytest.mark.parametrize(
    "store",
    [
        pytest.param(lambda matrix: matrix, id="csr"),
        pytest.param(
            lambda matrix: matrix.toarray(),
            id="dense",
        ),
    ],
)
def test_predictions_of_other_tools_are_evaluated(macrok, data, store):
    """Any k labels of each row, as 0 and 1."""
    random = np.random.default_rng(3)
    chosen = np.argsort(random.uniform(size=data.labels.shape), axis=1)[:, :K]
    predicted = as_matrix(np.sort(chosen, axis=1), data.labels.shape[1])
    with h5py.File(macrok.folder / "other.h5", "w") as file:
        anndata.io.write_elem(file, "predictions", store(predicted))
    facts = macrok.facts("evaluate", "--predictions", "other.h5", "--labels", data.path)
    expected = sklearn.metrics.f1_score(data.labels.toarray(), predicted.toarray(), average="macro", zero_division=0)
    assert facts["k"] == K
    assert facts["metrics"]["macro-f1"]["mean"] == pytest.approx(expected, abs=1e-5)


def test_json_on_standard_output_is_only_json(macrok, data):
    common = ["--json", "-"]
    for arguments in [
        ["synth", "made.h5", "--instances", 50],
        ["baseline", "top-k", "--labels", data.path, "-k", 2, "--out", "top.h5"],
        ["fit", "--marginals", data.path, "--labels", data.path, "-k", 2, "--out", "fit.h5"],
        ["predict", "fit.h5", "--marginals", data.path, "--out", "p.h5"],
        ["evaluate", "fit.h5", "--marginals", data.path, "--labels", data.path],
        ["evaluate", "--predictions", "p.h5", "--labels", data.path],
        ["inspect", data.path],
        ["inspect", "fit.h5"],
    ]:
        done = macrok.run(*arguments, *common)
        assert isinstance(json.loads(done.stdout), dict), arguments
        assert done.stderr, "messages are on standard error"
