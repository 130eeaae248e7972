"""`macrok split`, read by Python."""

import anndata.io
import h5py
import numpy as np
import pytest


def read(path, group):
    with h5py.File(path) as file:
        return anndata.io.read_elem(file[group])


@pytest.mark.parametrize("method", [[], ["--stratified"]])
def test_the_rows_of_parts_can_be_traced(macrok, data, method):
    macrok.run("split", "data.h5", "--fractions", "0.75,0.25", "--seed", 3, "--out", "a.h5,b.h5", *method)
    rows = []
    for name in ["a.h5", "b.h5"]:
        with h5py.File(macrok.folder / name) as file:
            rows.append(file["rows"][:])
            assert file["rows"].attrs["seed"] == 3
            assert file["rows"].attrs["source"] == "data.h5"
            np.testing.assert_allclose(file["rows"].attrs["fractions"], [0.75, 0.25])
        for group, whole in [("marginals", data.marginals), ("labels", data.labels)]:
            np.testing.assert_array_equal(read(macrok.folder / name, group).toarray(), whole[rows[-1]].toarray())
    assert len(rows[0]) == round(0.75 * data.labels.shape[0])
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(data.labels.shape[0]))


def test_stratified_parts_have_positives_of_every_label(macrok, data):
    macrok.run("split", "data.h5", "--stratified", "--out", "a.h5,b.h5")
    all_positives = np.asarray(data.labels.sum(axis=0)).ravel()
    first = np.asarray(read(macrok.folder / "a.h5", "labels").sum(axis=0)).ravel()
    assert np.abs(first - 0.5 * all_positives).max() <= 3
