//! The rows of one step, in the layout that the first layer reads.

use crate::sparse::RowsView;

/// Layout of the rows; the results agree up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputLayout {
    /// Stored entries only.
    Sparse,
    /// A matrix with a cell for every feature.
    Dense,
}

impl InputLayout {
    /// Chooses the faster layout: a dense product pays off if a quarter of the cells are stored.
    pub fn for_density(entries: u64, rows: u64, features: u64) -> InputLayout {
        if entries.saturating_mul(4) >= rows.saturating_mul(features) {
            InputLayout::Dense
        } else {
            InputLayout::Sparse
        }
    }
}

/// Some rows of a rank, in buffers reused from step to step.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Rows of this rank's matrices.
    pub rows: Vec<usize>,
    /// All cells of the rows, with [`InputLayout::Dense`].
    pub cells: Vec<f32>,
    /// Features of the batches of all ranks, ascending, with [`InputLayout::Sparse`].
    pub features: Vec<u32>,
    /// Start of the entries of each of `features`, and the end of the last.
    starts: Vec<usize>,
    /// For each entry its row within the batch, and its value.
    batch_rows: Vec<u32>,
    values: Vec<f32>,
    /// A bit for each feature that occurs: in this rank's batch, until the bits of all ranks are combined.
    pub feature_bits: Vec<u64>,
    /// Position of each feature in `features`.
    slots: Vec<u32>,
}

impl Batch {
    /// Fills the batch with `rows` of a matrix with `features` columns.
    pub fn fill(&mut self, matrix: RowsView<'_>, features: usize, rows: &[usize], input: InputLayout) {
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        match input {
            InputLayout::Dense => {
                self.cells.clear();
                self.cells.resize(rows.len() * features, 0.0);
                for (cells, &row) in self.cells.chunks_exact_mut(features).zip(rows) {
                    let (columns, values) = matrix.row(row);
                    columns.iter().zip(values).for_each(|(&column, &value)| cells[column as usize] = value);
                }
            }
            InputLayout::Sparse => {
                self.feature_bits.clear();
                self.feature_bits.resize(features.div_ceil(64), 0);
                self.slots.resize(features, 0);
                for &feature in rows.iter().flat_map(|&row| matrix.row(row).0) {
                    self.feature_bits[feature as usize / 64] |= 1 << (feature % 64);
                }
            }
        }
    }

    /// Sorts the entries of a sparse batch by feature, once `feature_bits` has the features of all ranks.
    pub fn sort_by_feature(&mut self, matrix: RowsView<'_>) {
        self.features.clear();
        for (word, &bits) in self.feature_bits.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let feature = word as u32 * 64 + left.trailing_zeros();
                self.slots[feature as usize] = self.features.len() as u32;
                self.features.push(feature);
                left &= left - 1;
            }
        }
        self.starts.clear();
        self.starts.resize(self.features.len() + 1, 0);
        for &feature in self.rows.iter().flat_map(|&row| matrix.row(row).0) {
            self.starts[self.slots[feature as usize] as usize] += 1;
        }
        // To the end of each feature's entries; filling from the last row on moves it to the start.
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.batch_rows.resize(end, 0);
        self.values.resize(end, 0.0);
        for (at, &row) in self.rows.iter().enumerate().rev() {
            let (columns, values) = matrix.row(row);
            for (&feature, &value) in columns.iter().zip(values) {
                let start = &mut self.starts[self.slots[feature as usize] as usize];
                *start -= 1;
                (self.batch_rows[*start], self.values[*start]) = (at as u32, value);
            }
        }
    }

    /// Returns the rows within the batch that have the feature at `slot`, ascending, and its values there.
    pub fn entries_of(&self, slot: usize) -> (&[u32], &[f32]) {
        let entries = self.starts[slot]..self.starts[slot + 1];
        (&self.batch_rows[entries.clone()], &self.values[entries])
    }
}
