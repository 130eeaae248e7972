//! Matrices from NumPy's `.npz` and `.npy` files.

mod cell_checker;
mod dense;
mod npy;
mod npy_header;
mod npz;
mod scipy_sparse;
mod zip;

use super::combine::InputContents;
use super::error::{ImportError, InputProblem};
use super::format::{FileFormat, ReadRequest};
use super::input::Group;
use super::matrix_problem::MatrixProblem;
use super::source::SourceFile;
use crate::sparse::Csr;
use cell_checker::CellChecker;
use npy::Array;
use npz::Archive;

pub(super) const FORMAT: FileFormat = FileFormat {
    name: "npz",
    help: "NumPy arrays, dense or sparse as saved by SciPy",
    title: "a NumPy file",
    groups: &Group::ALL,
    extensions: &["npz", "npy"],
    overrides_option: true,
    takes_label_list: false,
    recognises: |bytes, _| bytes.starts_with(NPY) || bytes.starts_with(ZIP),
    read,
};

const ZIP: &[u8] = b"PK\x03\x04";
const NPY: &[u8] = b"\x93NUMPY";

/// Reads one group, which is guessed from the file name if it was not given.
fn read(source: SourceFile, request: &ReadRequest<'_>) -> Result<InputContents, ImportError> {
    let SourceFile { path, bytes } = source;
    let mut part = InputContents::new(&path);
    let group = match request.group {
        Some(group) => group,
        None => {
            let unknown = || InputProblem::GroupUnknown { path: path.clone() };
            let group = Group::guess(&path).ok_or_else(unknown)?;
            part.note(format_args!("read as {group}, guessed from the file name"));
            group
        }
    };
    let mut cells = CellChecker::new(group, request.options.clamp);
    let matrix = read_matrix(bytes, &mut cells)
        .map_err(|problem| ImportError::Matrix { path: path.clone(), problem })?;
    part.note_count("marginals outside [0, 1], which were clamped", cells.clamped());
    part.matrices.push((group, matrix));
    Ok(part)
}

/// Reads a dense array, or an archive of one or of a sparse matrix.
fn read_matrix(bytes: Vec<u8>, cells: &mut CellChecker) -> Result<Csr, MatrixProblem> {
    if bytes.starts_with(NPY) {
        return dense::read(&Array::parse("the file", bytes)?, cells);
    }
    let archive = Archive::open(bytes)?;
    if archive.contains("format") {
        return scipy_sparse::read(&archive, cells);
    }
    match &archive.names()[..] {
        [name] => dense::read(&archive.array(name)?, cells),
        _ => Err(MatrixProblem::SeveralArrays { found: archive.listing() }),
    }
}
