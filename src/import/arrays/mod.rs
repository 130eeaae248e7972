//! Matrices from NumPy's `.npz` and `.npy` files.

mod cell_checker;
mod dense;
mod npy;
mod npy_header;
mod npz;
mod scipy_sparse;
mod zip;

use std::path::Path;

use super::combine::InputContents;
use super::error::{ImportError, InputProblem};
use super::guess_group;
use super::input::Group;
use super::matrix::SparseMatrix;
use super::matrix_problem::MatrixProblem;
use super::source::SourceFile;
use cell_checker::CellChecker;
use npy::Array;
use npz::Archive;

/// Reads a `.npz` archive: a SciPy sparse matrix, or a single dense array.
pub(super) fn read_npz(
    source: SourceFile,
    group: Option<Group>,
    clamp: bool,
) -> Result<InputContents, ImportError> {
    let SourceFile { path, bytes } = source;
    into_part(&path, group, clamp, |cells| {
        let archive = Archive::open(bytes)?;
        if archive.contains("format") {
            return scipy_sparse::read(&archive, cells);
        }
        match &archive.names()[..] {
            [name] => dense::read(&archive.array(name)?, cells),
            _ => Err(MatrixProblem::SeveralArrays { found: archive.listing() }),
        }
    })
}

/// Reads a `.npy` file: one dense array.
pub(super) fn read_npy(
    source: SourceFile,
    group: Option<Group>,
    clamp: bool,
) -> Result<InputContents, ImportError> {
    let SourceFile { path, bytes } = source;
    into_part(&path, group, clamp, |cells| dense::read(&Array::parse("the file", bytes)?, cells))
}

fn into_part(
    path: &Path,
    group: Option<Group>,
    clamp: bool,
    read: impl FnOnce(&mut CellChecker) -> Result<SparseMatrix, MatrixProblem>,
) -> Result<InputContents, ImportError> {
    let mut part = InputContents::new(path);
    let group = match group {
        Some(group) => group,
        None => {
            let group = guess_group::guess(path)
                .ok_or_else(|| InputProblem::GroupUnknown { path: path.to_owned() })?;
            part.note(format!("read as {group}, guessed from the file name"));
            group
        }
    };
    let mut cells = CellChecker::new(group, clamp);
    let matrix =
        read(&mut cells).map_err(|problem| ImportError::Matrix { path: path.to_owned(), problem })?;
    match cells.clamped() {
        0 => {}
        count => part.note(format!("{count} marginals outside [0, 1] were clamped")),
    }
    match group {
        Group::Features => part.features = Some(matrix),
        Group::Labels => part.labels = Some(matrix),
        Group::Marginals => part.marginals = Some(matrix),
    }
    Ok(part)
}
