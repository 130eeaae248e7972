//! The values that each group allows.

use crate::import::input::Group;
use crate::import::matrix_problem::MatrixProblem;

/// A check of the cells of one matrix, which counts the values it changes.
pub(super) struct CellChecker {
    group: Group,
    clamp: bool,
    clamped: usize,
}

impl CellChecker {
    pub fn new(group: Group, clamp: bool) -> CellChecker {
        CellChecker { group, clamp, clamped: 0 }
    }

    /// Returns the number of marginals moved into [0, 1].
    pub fn clamped(&self) -> usize {
        self.clamped
    }

    /// Returns the value to store; `None` for a label that is 0.
    pub fn check(&mut self, row: usize, column: u32, value: f64) -> Result<Option<f32>, MatrixProblem> {
        // Probabilities are checked in 64 bits: rounding to 32 would hide one just above 1.
        if !(value as f32).is_finite() {
            return Err(MatrixProblem::NotFinite { row, column, value });
        }
        match self.group {
            Group::Features => Ok(Some(value as f32)),
            Group::Labels if value == 0.0 => Ok(None),
            Group::Labels if value == 1.0 => Ok(Some(1.0)),
            Group::Labels => Err(MatrixProblem::NotLabel { row, column, value }),
            Group::Marginals if (0.0..=1.0).contains(&value) => Ok(Some(value.abs() as f32)),
            Group::Marginals if self.clamp => {
                self.clamped += 1;
                Ok(Some(value.clamp(0.0, 1.0) as f32))
            }
            Group::Marginals => Err(MatrixProblem::NotProbability { row, column, value }),
        }
    }
}
