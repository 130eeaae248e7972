//! Data that trees are trained on.

use crate::sparse::{CsrBuilder, RowsView, rows_by_column};

pub(super) struct TrainingSet<'d> {
    /// Rows of length 1.
    pub features: RowsView<'d>,
    pub width: usize,
    pub labels: RowsView<'d>,
    pub positives: Positives,
}

/// The positives of each label: rows that have it, ascending.
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

    /// Returns the rows with any of the labels, ascending.
    pub fn rows_of_any(&self, labels: &[u32]) -> Vec<u32> {
        let mut rows: Vec<u32> =
            labels.iter().flat_map(|&label| self.rows(label as usize)).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

/// Copies `rows`, with each row scaled to length 1.
pub(super) fn normalised_rows(rows: RowsView<'_>) -> CsrBuilder {
    let mut normalised = CsrBuilder::with_capacity(rows.count(), rows.entries());
    for row in 0..rows.count() {
        let (columns, values) = rows.row(row);
        normalised.push_row(columns, values);
        let start = normalised.starts[row];
        normalise(&mut normalised.values[start..]);
    }
    normalised
}

/// Scales a vector to length 1, unless it is 0.
pub(super) fn normalise(values: &mut [f32]) {
    let square: f64 = values.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
    if square > 0.0 {
        let scale = (1.0 / square.sqrt()) as f32;
        values.iter_mut().for_each(|value| *value *= scale);
    }
}
