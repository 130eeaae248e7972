//! The labels of rows, and the rows of labels.

use crate::estimate::RowsView;

/// The positive instances of each label, ascending.
pub(super) struct Positives {
    starts: Vec<usize>,
    rows: Vec<u32>,
}

impl Positives {
    pub fn new(labels: RowsView<'_>, count: usize) -> Positives {
        let mut starts = vec![0; count + 1];
        for row in 0..labels.count() {
            labels.row(row).0.iter().for_each(|&label| starts[label as usize + 1] += 1);
        }
        for label in 0..count {
            starts[label + 1] += starts[label];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; starts[count]];
        for row in 0..labels.count() {
            for &label in labels.row(row).0 {
                rows[next[label as usize]] = row as u32;
                next[label as usize] += 1;
            }
        }
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
