//! Matrices that `scipy.sparse.save_npz` writes: `csr`, `csc` and `coo`.

use super::cell_checker::CellChecker;
use super::npy::Array;
use super::npz::Archive;
use crate::import::matrix_problem::MatrixProblem;
use crate::import::parse_number::MAX_COLUMNS;
use crate::sparse::{Csr, CsrBuilder, sort_by_key};

/// Reads the matrix; rows are sorted, an entry stored twice is an error.
pub(super) fn read(archive: &Archive, cells: &mut CellChecker) -> Result<Csr, MatrixProblem> {
    let format = archive.array("format")?.string()?;
    let shape = read_shape(&archive.array("shape")?)?;
    match format.as_str() {
        "csr" | "csc" => {}
        "coo" => return from_coordinates(archive, shape, cells),
        _ => return Err(MatrixProblem::SparseFormat { found: format }),
    }
    let data = archive.array("data")?;
    data.require_numbers()?;
    let indices = archive.array("indices")?;
    require_entries("indices", &indices, data.len())?;
    let (rows, columns) = shape;
    if format == "csr" {
        let indptr = read_pointers(&archive.array("indptr")?, rows, data.len())?;
        let column = read_indices("indices", &indices, 0..data.len(), columns)?;
        return assemble(shape, &indptr, |at| at, |at| column[at] as u32, &data, cells);
    }
    let indptr = read_pointers(&archive.array("indptr")?, columns, data.len())?;
    let row = read_indices("indices", &indices, 0..data.len(), rows)?;
    let column: Vec<u32> = (0..columns as u32)
        .zip(indptr.windows(2))
        .flat_map(|(column, ends)| std::iter::repeat_n(column, ends[1] - ends[0]))
        .collect();
    let (indptr, order) = sort_by_row(&row[..column.len()], rows)?;
    assemble(shape, &indptr, |at| order[at], |at| column[at], &data, cells)
}

/// Reads `row` and `col`, or their replacement by newer SciPy, `coords` with one row of each.
fn from_coordinates(
    archive: &Archive,
    shape: (usize, usize),
    cells: &mut CellChecker,
) -> Result<Csr, MatrixProblem> {
    let data = archive.array("data")?;
    data.require_numbers()?;
    let entries = data.len();
    let (row, column) = if archive.contains("coords") {
        let coords = archive.array("coords")?;
        if coords.fortran || coords.shape[..] != [2, entries] {
            return Err(MatrixProblem::Entries {
                member: "coords",
                found: coords.len(),
                promised: entries.saturating_mul(2),
            });
        }
        (
            read_indices("coords", &coords, 0..entries, shape.0)?,
            read_indices("coords", &coords, entries..2 * entries, shape.1)?,
        )
    } else {
        let (row, col) = (archive.array("row")?, archive.array("col")?);
        require_entries("row", &row, entries)?;
        require_entries("col", &col, entries)?;
        (read_indices("row", &row, 0..entries, shape.0)?, read_indices("col", &col, 0..entries, shape.1)?)
    };
    let (indptr, order) = sort_by_row(&row, shape.0)?;
    assemble(shape, &indptr, |at| order[at], |at| column[at] as u32, &data, cells)
}

/// Assembles rows from `indptr`: position `at` holds the entry `entry(at)` of `data`, in column `column(entry)`.
fn assemble(
    (_, columns): (usize, usize),
    indptr: &[usize],
    entry: impl Fn(usize) -> usize,
    column: impl Fn(usize) -> u32,
    data: &Array,
    cells: &mut CellChecker,
) -> Result<Csr, MatrixProblem> {
    let mut matrix = CsrBuilder::default();
    for (row, ends) in indptr.windows(2).enumerate() {
        for at in ends[0]..ends[1] {
            let entry = entry(at);
            let column = column(entry);
            if let Some(value) = cells.check(row, column, data.number(entry))? {
                matrix.push(column, value);
            }
        }
        matrix.end_row().map_err(|column| MatrixProblem::Twice { row, column })?;
    }
    Ok(matrix.finish(columns))
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
    if found == promised {
        return Ok(());
    }
    Err(MatrixProblem::Entries { member, found, promised })
}

fn read_pointers(array: &Array, lines: usize, entries: usize) -> Result<Vec<usize>, MatrixProblem> {
    array.require_integers()?;
    require_entries("indptr", array, lines.saturating_add(1))?;
    let mut pointers = Vec::with_capacity(array.len());
    let mut last = 0;
    for at in 0..array.len() {
        let found = array.integer(at);
        match usize::try_from(found) {
            Ok(end) if end >= last && end <= entries && (at > 0 || end == 0) => {
                pointers.push(end);
                last = end;
            }
            _ => {
                return Err(MatrixProblem::Pointer { at, found: found.to_string(), entries });
            }
        }
    }
    Ok(pointers)
}

fn read_indices(
    member: &'static str,
    array: &Array,
    range: std::ops::Range<usize>,
    size: usize,
) -> Result<Vec<usize>, MatrixProblem> {
    array.require_integers()?;
    let read = |at| {
        let found = array.integer(at);
        match usize::try_from(found) {
            Ok(index) if index < size => Ok(index),
            _ => Err(MatrixProblem::Index { member, at, found: found.to_string(), size }),
        }
    };
    range.map(read).collect()
}
