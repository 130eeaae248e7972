//! Matrices that `scipy.sparse.save_npz` writes: `csr`, `csc` and `coo`.

use std::iter::repeat_n;
use std::ops::Range;

use super::cell_checker::CellChecker;
use super::npy::Array;
use super::npz::Archive;
use crate::import::matrix_problem::MatrixProblem;
use crate::import::parse_number::MAX_COLUMNS;
use crate::sparse::{Csr, CsrBuilder, sort_by_key};

/// Reads the matrix; rows are sorted, an entry stored twice is an error.
pub(super) fn read(archive: &Archive, cells: &mut CellChecker) -> Result<Csr, MatrixProblem> {
    let format = archive.array("format")?.string()?;
    let (rows, columns) = read_shape(&archive.array("shape")?)?;
    if !["csr", "csc", "coo"].contains(&format.as_str()) {
        return Err(MatrixProblem::SparseFormat { found: format });
    }
    let data = archive.array("data")?;
    data.require_numbers()?;
    // The start of each row, the entries in the order of their rows if they are stored in another, and their columns.
    let (starts, order, column) = if format == "coo" {
        let (row, column) = read_coordinates(archive, (rows, columns), data.len())?;
        let (starts, order) = sort_by_row(&row, rows)?;
        (starts, Some(order), column)
    } else {
        let indices = archive.array("indices")?;
        require_entries("indices", &indices, data.len())?;
        let (lines, size) = if format == "csr" { (rows, columns) } else { (columns, rows) };
        let starts = read_pointers(&archive.array("indptr")?, lines, data.len())?;
        let indices = read_indices("indices", &indices, 0..data.len(), size)?;
        if format == "csr" {
            (starts, None, indices)
        } else {
            let lengths = starts.windows(2).map(|ends| ends[1] - ends[0]);
            let column: Vec<usize> =
                lengths.enumerate().flat_map(|(column, length)| repeat_n(column, length)).collect();
            let (starts, order) = sort_by_row(&indices[..column.len()], rows)?;
            (starts, Some(order), column)
        }
    };
    let mut matrix = CsrBuilder::default();
    for (row, ends) in starts.windows(2).enumerate() {
        for at in ends[0]..ends[1] {
            let entry = order.as_ref().map_or(at, |order| order[at]);
            let column = column[entry] as u32;
            if let Some(value) = cells.check(row, column, data.number(entry))? {
                matrix.push(column, value);
            }
        }
        matrix.end_row().map_err(|column| MatrixProblem::Twice { row, column })?;
    }
    Ok(matrix.finish(columns))
}

/// Reads `row` and `col`, or their replacement by newer SciPy, `coords` with one row of each.
fn read_coordinates(
    archive: &Archive,
    (rows, columns): (usize, usize),
    entries: usize,
) -> Result<(Vec<usize>, Vec<usize>), MatrixProblem> {
    if !archive.contains("coords") {
        let (row, col) = (archive.array("row")?, archive.array("col")?);
        require_entries("row", &row, entries)?;
        require_entries("col", &col, entries)?;
        let row = read_indices("row", &row, 0..entries, rows)?;
        return Ok((row, read_indices("col", &col, 0..entries, columns)?));
    }
    let coords = archive.array("coords")?;
    if coords.header.fortran || coords.header.shape[..] != [2, entries] {
        let promised = entries.saturating_mul(2);
        return Err(MatrixProblem::Entries { member: "coords", found: coords.len(), promised });
    }
    let row = read_indices("coords", &coords, 0..entries, rows)?;
    Ok((row, read_indices("coords", &coords, entries..2 * entries, columns)?))
}

/// Returns the start of each row, and the entries in the order of their rows.
fn sort_by_row(row: &[usize], rows: usize) -> Result<(Vec<usize>, Vec<usize>), MatrixProblem> {
    // The shape in the file may be wrong, and an allocation that fails would abort.
    Vec::<usize>::new()
        .try_reserve_exact(rows.saturating_add(1))
        .map_err(|_| MatrixProblem::Memory { rows })?;
    Ok(sort_by_key(rows, row.iter().copied().zip(0..)))
}

fn read_shape(array: &Array) -> Result<(usize, usize), MatrixProblem> {
    array.require_integers()?;
    let sizes: Vec<i128> = (0..array.len().min(3)).map(|at| array.integer(at)).collect();
    let wrong = || MatrixProblem::Shape { found: format!("{sizes:?}") };
    match sizes[..] {
        [rows, columns] if (1..=MAX_COLUMNS as i128).contains(&columns) => {
            Ok((usize::try_from(rows).map_err(|_| wrong())?, columns as usize))
        }
        _ => Err(wrong()),
    }
}

fn require_entries(member: &'static str, array: &Array, promised: usize) -> Result<(), MatrixProblem> {
    let found = array.len();
    if found == promised { Ok(()) } else { Err(MatrixProblem::Entries { member, found, promised }) }
}

fn read_pointers(array: &Array, lines: usize, entries: usize) -> Result<Vec<usize>, MatrixProblem> {
    array.require_integers()?;
    require_entries("indptr", array, lines.saturating_add(1))?;
    let mut last = 0;
    let read = |at| match usize::try_from(array.integer(at)) {
        Ok(end) if end >= last && end <= entries && (at > 0 || end == 0) => {
            last = end;
            Ok(end)
        }
        _ => Err(MatrixProblem::Pointer { at, found: array.integer(at).to_string(), entries }),
    };
    (0..array.len()).map(read).collect()
}

fn read_indices(
    member: &'static str,
    array: &Array,
    range: Range<usize>,
    size: usize,
) -> Result<Vec<usize>, MatrixProblem> {
    array.require_integers()?;
    let read = |at| match usize::try_from(array.integer(at)) {
        Ok(index) if index < size => Ok(index),
        _ => Err(MatrixProblem::Index { member, at, found: array.integer(at).to_string(), size }),
    };
    range.map(read).collect()
}
