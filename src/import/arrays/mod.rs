//! Matrices from NumPy's `.npz` and `.npy` files.

mod cell;
mod dense;
mod header;
mod npy;
mod npz;
mod sparse;
mod zip;

use std::path::Path;

use super::combine::Part;
use super::error::{ImportError, InputProblem};
use super::group;
use super::input::Group;
use super::matrix::Sparse;
use super::matrix_problem::MatrixProblem;
use super::source::Source;
use cell::Cells;
use npy::Array;
use npz::Archive;

/// Reads a `.npz` archive: a SciPy sparse matrix, or a single dense array.
pub(super) fn read_npz(source: Source, group: Option<Group>, clamp: bool) -> Result<Part, ImportError> {
    let Source { path, bytes } = source;
    into_part(&path, group, clamp, |cells| {
        let archive = Archive::open(bytes)?;
        if archive.holds("format") {
            return sparse::read(&archive, cells);
        }
        match &archive.names()[..] {
            [name] => dense::read(&archive.array(name)?, cells),
            _ => Err(MatrixProblem::SeveralArrays { found: archive.listing() }),
        }
    })
}

/// Reads a `.npy` file: one dense array.
pub(super) fn read_npy(source: Source, group: Option<Group>, clamp: bool) -> Result<Part, ImportError> {
    let Source { path, bytes } = source;
    into_part(&path, group, clamp, |cells| dense::read(&Array::parse("the file", bytes)?, cells))
}

fn into_part(
    path: &Path,
    group: Option<Group>,
    clamp: bool,
    read: impl FnOnce(&mut Cells) -> Result<Sparse, MatrixProblem>,
) -> Result<Part, ImportError> {
    let mut part = Part::new(path);
    let group = match group {
        Some(group) => group,
        None => {
            let group =
                group::guess(path).ok_or_else(|| InputProblem::GroupUnknown { path: path.to_owned() })?;
            part.note(format!("read as {group}, guessed from the file name"));
            group
        }
    };
    let mut cells = Cells::new(group, clamp);
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
