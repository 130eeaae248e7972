//! The labels of rows, and the rows of labels.

use crate::sparse::{RowsView, rows_by_column};

/// The positive instances of each label, ascending.
pub(super) struct Positives {
    starts: Vec<usize>,
    rows: Vec<u32>,
}

impl Positives {
    pub fn new(labels: RowsView<'_>, count: usize) -> Positives {
        let (starts, rows) = rows_by_column(labels, count, 0..labels.count() as u32);
        Positives { starts, rows }
    }

    pub fn labels(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn rows(&self, label: usize) -> &[u32] {
        &self.rows[self.starts[label]..self.starts[label + 1]]
    }

    /// Rows that have any of the labels, ascending.
    pub fn rows_of_any(&self, labels: &[u32]) -> Vec<u32> {
        let mut rows: Vec<u32> =
            labels.iter().flat_map(|&label| self.rows(label as usize)).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}
