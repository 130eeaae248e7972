"""Calibrated models: the map in the file is one for `numpy.interp`."""

import shutil

import anndata.io
import h5py
import numpy as np
import pytest


def read(path, group):
    with h5py.File(path) as file:
        return anndata.io.read_elem(file[group])


@pytest.mark.parametrize("method", ["isotonic", "platt"])
def test_the_map_is_that_of_numpy_interp_and_monotone(macrok, method):
    macrok.run("synth", "data.h5", "--instances", 300, "--labels", 40, "--nnz", 15)
    macrok.run("train", "data.h5", "--estimator", "linear", "--calibrate", method, "--out", "with.model")
    shutil.copy(macrok.folder / "with.model", macrok.folder / "without.model")
    with h5py.File(macrok.folder / "without.model", "a") as file:
        corners = file["calibration/from"][:], file["calibration/to"][:]
        del file["calibration"]
    for name in ["with", "without"]:
        macrok.run("marginals", f"{name}.model", "data.h5", "--keep", 30, "--out", f"{name}.h5")
    calibrated, raw = (read(macrok.folder / f"{name}.h5", "marginals") for name in ["with", "without"])
    np.testing.assert_array_equal(calibrated.indices, raw.indices)
    np.testing.assert_allclose(calibrated.data, np.interp(raw.data.astype(float), *corners), rtol=1e-6)
    assert not np.allclose(calibrated.data, raw.data, rtol=1e-3)
    for row in range(300):
        entries = slice(raw.indptr[row], raw.indptr[row + 1])
        by_raw = np.lexsort((calibrated.data[entries], raw.data[entries]))
        assert (np.diff(calibrated.data[entries][by_raw]) >= 0).all()
