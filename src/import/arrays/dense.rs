//! A dense two-dimensional array as a sparse matrix.

use super::cell_checker::CellChecker;
use super::npy::Array;
use crate::import::matrix::{SparseBuilder, SparseMatrix};
use crate::import::matrix_problem::MatrixProblem;

/// Keeps what is not zero, in rows and columns as NumPy indexes them.
pub(super) fn read(array: &Array, cells: &mut CellChecker) -> Result<SparseMatrix, MatrixProblem> {
    let (rows, columns) = match array.shape[..] {
        [rows, columns] if (1..=u32::MAX as usize).contains(&columns) => (rows, columns),
        _ => {
            return Err(MatrixProblem::Shape { found: format!("{:?}", array.shape) });
        }
    };
    array.require_numbers()?;
    let mut matrix = SparseBuilder::new();
    for row in 0..rows {
        for column in 0..columns {
            let at = if array.fortran { column * rows + row } else { row * columns + column };
            let value = array.number(at);
            if value == 0.0 {
                continue;
            }
            let column = column as u32; // below u32::MAX, checked above
            if let Some(value) = cells.check(row, column, value)? {
                matrix.push(column, value);
            }
        }
        matrix.end_row().map_err(|column| MatrixProblem::Twice { row, column })?;
    }
    Ok(matrix.finish(columns))
}
