//! What a value may be, by the group it belongs to.

use crate::import::input::Group;
use crate::import::matrix_problem::MatrixProblem;

/// Checks the cells of one matrix and counts what it changed.
pub(super) struct CellChecker {
    group: Group,
    clamp: bool,
    clamped: usize,
}

impl CellChecker {
    pub fn new(group: Group, clamp: bool) -> CellChecker {
        CellChecker { group, clamp, clamped: 0 }
    }

    /// How many marginals were moved into [0, 1].
    pub fn clamped(&self) -> usize {
        self.clamped
    }

    /// The value to store; `None` for a label that is 0.
    pub fn check(&mut self, row: usize, column: u32, value: f64) -> Result<Option<f32>, MatrixProblem> {
        // Checked as stored: rounding to 32 bits would hide a probability just above 1.
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
