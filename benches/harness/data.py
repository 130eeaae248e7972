"""Data files: generated once by `macrok synth`, kept, and identified by name."""

import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
import scipy.sparse as sp

from .sizes import Shape

MATRICES = ("marginals", "labels")


def make(macrok: Path, folder: Path, shape: Shape) -> Path:
    """The file of a shape. Its name encodes the options; `synth` renames a file into place when it is complete."""
    path = folder / f"n{shape.rows}-m{shape.labels}-z{shape.nnz}.h5"
    if not path.exists():
        options = {"--instances": shape.rows, "--labels": shape.labels, "--nnz": shape.nnz, "--avg-labels": 5}
        # The benchmarks do not read features.
        options["--features"] = 10
        arguments = [str(part) for option in options.items() for part in option]
        subprocess.run([macrok, "synth", path, *arguments], check=True, stdout=subprocess.DEVNULL)
    return path


def as_npz(path: Path) -> dict[str, Path]:
    """The same matrices as `.npz` files, for xcolumns; written once."""
    found = {name: path.with_name(f"{path.stem}-{name}.npz") for name in MATRICES}
    for name, npz in found.items():
        if not npz.exists():
            with h5py.File(path) as file:
                group = file[name]
                parts = (group["data"][:], group["indices"][:], group["indptr"][:])
                matrix = sp.csr_matrix(parts, shape=tuple(group.attrs["shape"]))
            unfinished = npz.with_name(f"unfinished-{npz.name}")
            sp.save_npz(unfinished, matrix, compressed=False)
            unfinished.rename(npz)
    return found


def stored_entries(path: Path) -> dict[str, int]:
    with h5py.File(path) as file:
        return {name: file[name]["indices"].shape[0] for name in MATRICES}


def stored_pieces(path: Path) -> list[tuple[int, int]]:
    """Offset and length of each dataset that a fit loads."""
    with h5py.File(path) as file:
        datasets = [file[name][part] for name in MATRICES for part in ("data", "indices", "indptr")]
        return [(one.id.get_offset(), one.id.get_storage_size()) for one in datasets]


def plain_read(path: Path, keep: bool) -> tuple[float, int]:
    """Seconds and bytes of reading the data of a fit without HDF5, sequentially in pieces of 8 MiB.

    With `keep` into new memory that holds it all, as a load must; without, over and over into one buffer.
    """
    pieces = stored_pieces(path)
    total, piece = sum(length for _, length in pieces), 8 << 20
    space = memoryview(np.empty(total if keep else min(piece, total), dtype=np.uint8))
    at = 0
    start = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        for offset, length in pieces:
            file.seek(offset)
            while length:
                read = file.readinto(space[at : at + min(length, piece)])
                length -= read
                at += read if keep else 0
    return time.perf_counter() - start, total
