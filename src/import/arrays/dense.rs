//! A dense two-dimensional array as a sparse matrix.

use super::cell_checker::CellChecker;
use super::npy::Array;
use crate::import::matrix_problem::MatrixProblem;
use crate::import::parse_number::MAX_COLUMNS;
use crate::sparse::{Csr, CsrBuilder};

/// Reads the cells that are not zero, with rows and columns as NumPy indexes them.
pub(super) fn read(array: &Array, cells: &mut CellChecker) -> Result<Csr, MatrixProblem> {
    let &[rows, columns @ 1..=MAX_COLUMNS] = &array.header.shape[..] else {
        return Err(MatrixProblem::Shape { found: format!("{:?}", array.header.shape) });
    };
    array.require_numbers()?;
    let mut matrix = CsrBuilder::default();
    for row in 0..rows {
        for column in 0..columns {
            let at = if array.header.fortran { column * rows + row } else { row * columns + column };
            let value = array.number(at);
            if value == 0.0 {
                continue;
            }
            let column = column as u32;
            if let Some(value) = cells.check(row, column, value)? {
                matrix.push(column, value);
            }
        }
        matrix.end_row().map_err(|column| MatrixProblem::Twice { row, column })?;
    }
    Ok(matrix.finish(columns))
}
