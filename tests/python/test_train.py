"""Compares models and marginals with their definitions."""

import json

import h5py
import numpy as np
import pytest
import scipy.sparse as sp


def matrix(group, shape=None):
    shape = tuple(group["shape"][:] if shape is None else shape)
    return sp.csr_matrix((group["data"][:], group["indices"][:], group["indptr"][:]), shape=shape)


def marginals_of(model, features):
    """Returns the product of the probabilities on the path to each label, averaged over trees."""
    forest = model["forest"]
    length = np.sqrt(np.asarray(features.multiply(features).sum(axis=1)).ravel())
    unit = sp.diags(1 / np.where(length > 0, length, 1)) @ features
    scores = (unit @ matrix(forest["weights"]).T).toarray() + forest["biases"][:]
    own = 1 / (1 + np.exp(-scores.astype(np.float64)))
    parents, labels = forest["parents"][:], forest["leaf_labels"][:]
    below = np.empty_like(own)
    found = np.zeros((features.shape[0], int(model.attrs["labels"])))
    for node, (parent, label) in enumerate(zip(parents, labels, strict=True)):
        root = parent == np.uint32(0xFFFFFFFF)
        below[:, node] = own[:, node] * (1 if root else below[:, parent])
        if label != np.uint32(0xFFFFFFFF):
            found[:, label] += below[:, node] / forest["trees"][0]
    return found


@pytest.mark.parametrize("options", ["plt --leaf-size 10", "plt --trees 2 --arity 5 --leaf-size 3", "linear"])
def test_marginals_of_trees_agree_with_their_definition(macrok, options):
    macrok.run("synth", "train.h5", "--instances", 300, "--labels", 60, "--features", 50, "--nnz", 20)
    macrok.run("synth", "rest.h5", "--instances", 50, "--first-row", 300, "--labels", 60, "--features", 50, "--nnz", 20)
    macrok.run("train", "train.h5", "--estimator", *options.split(), "--seed", 7, "--out", "a.model")
    macrok.run("marginals", "a.model", "rest.h5", "--keep", 9, "--out", "m.h5")
    with h5py.File(macrok.folder / "rest.h5") as file:
        features = matrix(file["features"], file["features"].attrs["shape"])
    with h5py.File(macrok.folder / "a.model") as model:
        assert (model.attrs["model-version"], model.attrs["seed"]) == (1, 7)
        assert model.attrs["estimator"] == options.split()[0]
        assert json.loads(model.attrs["options"])["cost"] == 10
        wanted = marginals_of(model, features)
    with h5py.File(macrok.folder / "m.h5") as file:
        kept = matrix(file["marginals"], file["marginals"].attrs["shape"])
        assert matrix(file["labels"], file["labels"].attrs["shape"]).shape == kept.shape == (50, 60)
    for row in range(50):
        largest = np.sort(np.argsort(-wanted[row], kind="stable")[:9])
        np.testing.assert_array_equal(kept[row].indices, largest)
        np.testing.assert_allclose(kept[row].data, wanted[row, largest], rtol=2e-5)


@pytest.mark.parametrize("hidden", ["128", "130,150,128"])
def test_marginals_of_networks_agree_with_their_definition(macrok, hidden):
    macrok.run("synth", "train.h5", "--instances", 300, "--labels", 60, "--features", 50, "--nnz", 20)
    macrok.run(
        "train", "train.h5", "--estimator", "mlp", "--hidden", hidden, "--epochs", 2, "--validation", 0, "--out", "a.model",
    )  # fmt: skip
    macrok.run("marginals", "a.model", "train.h5", "--keep", 60, "--out", "m.h5")
    with h5py.File(macrok.folder / "train.h5") as file:
        units = matrix(file["features"], file["features"].attrs["shape"]).toarray().astype(np.float64)
    with h5py.File(macrok.folder / "a.model") as model:
        layers = [model["network"][str(layer)] for layer in range(len(model["network"]))]
        assert [layer["weights"].shape[1] for layer in layers[:-1]] == [int(units) for units in hidden.split(",")]
        for layer in layers:
            logits = units @ layer["weights"][:] + layer["biases"][:]
            units = np.maximum(logits, 0)
    with h5py.File(macrok.folder / "m.h5") as file:
        kept = matrix(file["marginals"], file["marginals"].attrs["shape"])
    np.testing.assert_allclose(kept.toarray(), 1 / (1 + np.exp(-logits)), rtol=1e-4)
