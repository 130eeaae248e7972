"""With enough labels that macrok renumbers them, it still predicts those with the best scores."""

import numpy as np
import pytest
import scipy.sparse as sp

from files import read_classifier, read_predictions, top_k, write_classifier, write_data

LABELS, ROWS, K = 70_000, 150, 5


@pytest.fixture(scope="module")
def many():
    """Marginals of two digits, which makes many ties; frequent labels have the largest numbers."""
    random = np.random.default_rng(3)
    rows = []
    for row in range(ROWS):
        # The first rows have 0, 1, 2, ... entries, then one has nearly all labels.
        length = row if row < K + 2 else 69_000 if row == K + 2 else 60
        draws = LABELS - 1 - (LABELS * random.uniform(size=2 * length) ** 3).astype(int)
        columns = random.permutation(LABELS)[:length] if length > 1000 else np.unique(draws)[-length:] if length else []
        rows.append(np.sort(np.asarray(columns, dtype=np.int32)))
    indptr = np.cumsum([0] + [len(row) for row in rows])
    indices = np.concatenate(rows)
    values = np.round(random.uniform(size=indices.size) ** 2, 2).astype(np.float32)
    marginals = sp.csr_matrix((values, indices, indptr), shape=(ROWS, LABELS))
    truth = marginals.copy()
    truth.data = (random.uniform(size=values.size) < values).astype(np.float32)
    truth.eliminate_zeros()
    return marginals, truth


def predicted(macrok, classifier, k=K):
    macrok.run("predict", classifier, "--marginals", "many.h5", "--out", "pred.h5", "--force")
    labels, _, shape = read_predictions(macrok.folder / "pred.h5")
    assert shape == (ROWS, LABELS) and labels.shape == (ROWS, k)
    return labels


@pytest.mark.parametrize("with_labels", [True, False])
def test_a_fit_over_many_labels_predicts_its_best_scores(macrok, many, with_labels):
    marginals, truth = many
    write_data(macrok.folder / "many.h5", marginals, truth)
    labels = ["--labels", "many.h5"] if with_labels else []
    macrok.run("fit", "--marginals", "many.h5", *labels, "-k", K, "--max-iters", 3, "--out", "clf.h5")
    slopes, intercepts, weights = read_classifier(macrok.folder / "clf.h5")
    assert slopes.shape == (len(weights), LABELS)
    tops = [top_k(marginals, a, b, K) for a, b in zip(slopes, intercepts, strict=True)]
    for number, top in enumerate(tops):
        write_classifier(macrok.folder / "one.h5", K, slopes[number], intercepts[number])
        np.testing.assert_array_equal(predicted(macrok, "one.h5"), top)
    drawn = predicted(macrok, "clf.h5")
    assert np.any([(drawn == top).all(axis=1) for top in tops], axis=0).all(), "a row by none of the rules"
    assert drawn.max() > 65_536


@pytest.mark.parametrize("k", [1, K, 40])
@pytest.mark.parametrize("seed", range(2))
def test_any_rule_over_many_labels_predicts_its_best_scores(macrok, many, seed, k):
    """Coefficients of few values make many ties between stored and zero labels."""
    marginals, _ = many
    write_data(macrok.folder / "many.h5", marginals)
    random = np.random.default_rng(seed)
    slopes = random.integers(-2, 5, size=LABELS) / 2
    # Few labels have the largest intercept; with seed 1 they have large numbers.
    intercepts = random.integers(-3, 1, size=LABELS) / 4
    intercepts[-20 if seed else 20 :][:20] += 0.5
    write_classifier(macrok.folder / "one.h5", k, slopes, intercepts)
    np.testing.assert_array_equal(predicted(macrok, "one.h5", k), top_k(marginals, slopes, intercepts, k))
