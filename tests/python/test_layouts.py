"""Every layout in which Python writes the same matrices gives the same classifier and predictions."""

import anndata.io
import h5py
import numpy as np
import pytest
import scipy.sparse as sp

from conftest import random_data
from files import content, read_classifier, read_predictions, write_data


def by_hand(file, name, matrix, *, shape="attribute", index=np.int32, value=np.float32, **storage):
    """Writes a group of three arrays without attributes of an encoding."""
    group = file.create_group(name)
    group.create_dataset("data", data=matrix.data.astype(value), **storage)
    group.create_dataset("indices", data=matrix.indices.astype(index), **storage)
    group.create_dataset("indptr", data=matrix.indptr.astype(index), **storage)
    if shape == "attribute":
        group.attrs["shape"] = matrix.shape
    else:
        group["shape"] = np.array(matrix.shape)


def anndata_matrix(file, name, matrix):
    anndata.io.write_elem(file, name, matrix)


def anndata_array(file, name, matrix):
    anndata.io.write_elem(file, name, sp.csr_array(matrix))


def anndata_compressed(file, name, matrix):
    options = {"compression": "gzip", "chunks": (100,), "shuffle": True}
    anndata.io.write_elem(file, name, matrix, dataset_kwargs=options)


def unsorted(file, name, matrix):
    """Writes the columns of each row in descending order."""
    turned = matrix.copy()
    for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        turned.indices[start:end] = matrix.indices[start:end][::-1]
        turned.data[start:end] = matrix.data[start:end][::-1]
    assert not np.array_equal(turned.indices, matrix.indices)
    by_hand(file, name, turned)


def old_text_attributes(file, name, matrix):
    """Writes strings of fixed length, as some programs do."""
    by_hand(file, name, matrix)
    file[name].attrs["encoding-type"] = np.bytes_("csr_matrix")


def boolean_labels(file, name, matrix):
    by_hand(file, name, matrix, value=bool if name == "labels" else np.float32)


def dense_boolean_labels(file, name, matrix):
    file[name] = matrix.toarray().astype(bool if name == "labels" else np.float64)


def stored_zeros_in_labels(file, name, matrix):
    if name != "labels":
        return by_hand(file, name, matrix)
    # Every cell is an entry, and most are 0.
    rows, columns = matrix.shape
    group = file.create_group(name)
    group["data"] = matrix.toarray().ravel()
    group["indices"] = np.tile(np.arange(columns), rows)
    group["indptr"] = np.arange(rows + 1) * columns
    group.attrs["shape"] = matrix.shape


def with_options(**options):
    return lambda file, name, matrix: by_hand(file, name, matrix, **options)


LAYOUTS = {
    "anndata-array": anndata_array,
    "anndata-gzip": anndata_compressed,
    "no-encoding": with_options(),
    "old-text-attributes": old_text_attributes,
    "shape-dataset": with_options(shape="dataset"),
    "int64-indices": with_options(index=np.int64),
    "uint32-indices": with_options(index=np.uint32),
    "uint64-indices": with_options(index=np.uint64),
    "big-endian": with_options(index=">i4", value=">f4"),
    "big-endian-wide": with_options(index=">i8", value=">f8"),
    "f64-data": with_options(value=np.float64),
    "f64-int64": with_options(index=np.int64, value=np.float64),
    "chunks": with_options(chunks=(97,)),
    "gzip-chunks": with_options(compression="gzip", chunks=(64,)),
    "gzip-shuffle-chunks": with_options(compression="gzip", shuffle=True, chunks=(97,)),
    "long-chunk": with_options(compression="gzip", maxshape=(None,), chunks=(1 << 17,)),
    "gzip-shuffle-checksum": with_options(compression="gzip", shuffle=True, fletcher32=True),
    "unsorted": unsorted,
    "boolean-labels": boolean_labels,
    "dense-boolean-labels": dense_boolean_labels,
    "dense-f32": lambda file, name, matrix: file.create_dataset(name, data=matrix.toarray()),
    "dense-gzip": lambda file, name, matrix: file.create_dataset(name, data=matrix.toarray(), compression="gzip"),
    "int8-labels": lambda f, n, m: by_hand(f, n, m, value=np.int8 if n == "labels" else np.float32),
    "stored-zeros-in-labels": stored_zeros_in_labels,
}


def results(macrok, path):
    """Returns the classifier and the predictions for a file."""
    fitted, predicted = f"{path.stem}-clf.h5", f"{path.stem}-pred.h5"
    fit = macrok.facts("fit", "--marginals", path, "--labels", path, "-k", 3, "--metric", "macro-f1", "--out", fitted)
    macrok.run("predict", fitted, "--marginals", path, "--out", predicted)
    labels, scores, _ = read_predictions(macrok.folder / predicted)
    return fit["utility"], *read_classifier(macrok.folder / fitted), labels, scores


@pytest.mark.parametrize("layout", LAYOUTS)
def test_results_do_not_depend_on_the_layout(macrok, data, layout):
    other = macrok.folder / "other.h5"
    with h5py.File(other, "w") as file:
        LAYOUTS[layout](file, "marginals", data.marginals)
        LAYOUTS[layout](file, "labels", data.labels)
    for expected, found in zip(results(macrok, data.path), results(macrok, other), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.fixture(scope="module")
def blocks():
    """Data of several blocks, for several threads and ranks."""
    made = random_data(instances=4000, labels=150, stored=40)
    assert made.marginals.nnz > 2 * 65_536
    made.expected = None
    return made


def fitted(macrok, path, ranks):
    out = macrok.folder / f"{path.stem}-{ranks}.h5"
    arguments = ["-k", 3, "--max-iters", 4, "--threads", 2, "--out", out]
    macrok.run("fit", "--marginals", path, "--labels", path, *arguments, ranks=ranks)
    return content(out)


# A user block shifts all offsets in an HDF5 file.
BEHIND_A_USER_BLOCK = ["no-encoding", "f64-int64", "chunks", "dense-f32"]


@pytest.mark.parametrize(
    ("layout", "userblock"), [(name, 0) for name in LAYOUTS] + [(name, 512) for name in BEHIND_A_USER_BLOCK]
)
def test_no_bit_of_a_classifier_depends_on_the_layout(macrok, blocks, layout, userblock):
    """Compares one process and three ranks."""
    if blocks.expected is None:
        write_data(macrok.folder / "usual.h5", blocks.marginals, blocks.labels)
        blocks.expected = fitted(macrok, macrok.folder / "usual.h5", None)
    assert {"slopes", "intercepts", "weights", "positives", "@utility"} <= blocks.expected.keys()
    with h5py.File(macrok.folder / "other.h5", "w", userblock_size=userblock) as file:
        LAYOUTS[layout](file, "marginals", blocks.marginals)
        LAYOUTS[layout](file, "labels", blocks.labels)
    for ranks in [None, 3]:
        found = fitted(macrok, macrok.folder / "other.h5", ranks)
        assert found.keys() == blocks.expected.keys()
        assert [name for name, bits in blocks.expected.items() if found[name] != bits] == []


@pytest.mark.parametrize("part", ["marginals", "marginals/data"])
def test_links_to_other_files_are_followed(macrok, data, part):
    """Large data are often a file of links to their parts."""
    for name in ["whole.h5", "linked.h5"]:
        with h5py.File(macrok.folder / name, "w") as file:
            # As long as the rest, so that values read from the wrong place would look valid.
            file["something"] = np.full(1 if name == "whole.h5" else 100_000, 0.5, dtype=np.float32)
            by_hand(file, "marginals", data.marginals)
            by_hand(file, "labels", data.labels)
    with h5py.File(macrok.folder / "linked.h5", "a") as file:
        del file[part]
        file[part] = h5py.ExternalLink("whole.h5", part)
    expected = results(macrok, macrok.folder / "whole.h5")
    for one, other in zip(expected, results(macrok, macrok.folder / "linked.h5"), strict=True):
        np.testing.assert_array_equal(other, one)


def test_a_file_truncated_in_the_marginals_is_refused(macrok, data):
    with h5py.File(macrok.folder / "cut.h5", "w") as file:
        by_hand(file, "labels", data.labels)
        by_hand(file, "marginals", data.marginals)
        middle = file["marginals/data"].id.get_offset() + 4 * (data.marginals.nnz // 2)
    whole = (macrok.folder / "cut.h5").read_bytes()
    (macrok.folder / "cut.h5").write_bytes(whole[:middle])
    arguments = ["fit", "--marginals", "cut.h5", "--labels", data.path, "-k", 2, "--out", "clf.h5"]
    for ranks in [None, 3]:
        done = macrok.run(*arguments, status=2, ranks=ranks)
        assert done.stderr.count("macrok: error:") == 1
        assert "cut.h5: the file is truncated or damaged" in done.stderr
        assert not (macrok.folder / "clf.h5").exists()


def test_groups_can_be_named_and_nested(macrok, data):
    with h5py.File(macrok.folder / "deep.h5", "w") as file:
        anndata.io.write_elem(file, "fold/three/estimates", data.marginals)
        anndata.io.write_elem(file, "truth", data.labels)
    arguments = ["-k", 2, "--metric", "macro-recall"]
    named = macrok.facts(
        "fit", "--marginals", "deep.h5:fold/three/estimates", "--labels", "deep.h5:truth", *arguments, "--out", "a.h5"
    )
    usual = macrok.facts("fit", "--marginals", data.path, "--labels", data.path, *arguments, "--out", "b.h5")
    assert named["utility"] == usual["utility"]


def test_csc_is_refused(macrok, data):
    with h5py.File(macrok.folder / "csc.h5", "w") as file:
        anndata.io.write_elem(file, "marginals", data.marginals.tocsc())
    done = macrok.run("fit", "--marginals", "csc.h5", "-k", 2, "--out", "clf.h5", status=2)
    assert "csc_matrix" in done.stderr and "CSR" in done.stderr
