//! The rows of one step, and what the first layer reads of them.

use crate::sparse::RowsView;

/// How the first layer reads its rows; the same numbers up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputLayout {
    /// Entry by entry: for rows of which most features are zero.
    Sparse,
    /// As a matrix with a cell for every feature.
    Dense,
}

impl InputLayout {
    /// From a quarter of the cells on, a product of matrices is faster than going from entry to entry.
    pub fn for_density(entries: u64, rows: u64, features: u64) -> InputLayout {
        if entries.saturating_mul(4) >= rows.saturating_mul(features) {
            InputLayout::Dense
        } else {
            InputLayout::Sparse
        }
    }
}

/// Some rows of a rank. Its space is used again for every step.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Rows of this rank's matrices.
    pub rows: Vec<usize>,
    /// With [`InputLayout::Dense`], the rows with all their cells.
    pub cells: Vec<f32>,
    /// With [`InputLayout::Sparse`], the features that occur in the batch, ascending: of this rank first, of all once [`Batch::sort_by_feature`]
    /// is called.
    pub features: Vec<u32>,
    /// Where the entries of each of those begin, and the last ones end.
    starts: Vec<usize>,
    /// For each entry its row within the batch, and its value.
    batch_rows: Vec<u32>,
    values: Vec<f32>,
    /// A bit for each feature.
    pub feature_bits: Vec<u64>,
    /// Where a feature is among `features`.
    slots: Vec<u32>,
}

impl Batch {
    /// Takes these rows of a matrix of so many features.
    pub fn fill(&mut self, matrix: RowsView<'_>, features: usize, rows: &[usize], input: InputLayout) {
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        match input {
            InputLayout::Dense => {
                self.cells.clear();
                self.cells.resize(rows.len() * features, 0.0);
                for (cells, &row) in self.cells.chunks_exact_mut(features).zip(rows) {
                    entries(matrix, row).for_each(|(feature, value)| cells[feature as usize] = value);
                }
            }
            InputLayout::Sparse => {
                self.feature_bits.clear();
                self.feature_bits.resize(features.div_ceil(64), 0);
                self.slots.resize(features, 0);
                for &row in rows {
                    matrix
                        .row(row)
                        .0
                        .iter()
                        .for_each(|&feature| self.feature_bits[feature as usize / 64] |= 1 << (feature % 64));
                }
            }
        }
    }

    /// Puts the entries of a sparse batch in order, by feature; `feature_bits` may have bits of other ranks' features too.
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
        let slot = |slots: &[u32], feature: u32| slots[feature as usize] as usize;
        for &row in &self.rows {
            matrix.row(row).0.iter().for_each(|&feature| self.starts[slot(&self.slots, feature)] += 1);
        }
        // To the end of each feature's entries; filling from the last row on moves it to the beginning.
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.batch_rows.resize(end, 0);
        self.values.resize(end, 0.0);
        for (at, &row) in self.rows.iter().enumerate().rev() {
            for (feature, value) in entries(matrix, row) {
                let start = &mut self.starts[slot(&self.slots, feature)];
                *start -= 1;
                (self.batch_rows[*start], self.values[*start]) = (at as u32, value);
            }
        }
    }

    /// Rows within the batch that have the feature at `slot`, ascending, and its values.
    pub fn entries_of(&self, slot: usize) -> (&[u32], &[f32]) {
        let entries = self.starts[slot]..self.starts[slot + 1];
        (&self.batch_rows[entries.clone()], &self.values[entries])
    }
}

/// Features and values of a row.
fn entries(matrix: RowsView<'_>, row: usize) -> impl Iterator<Item = (u32, f32)> {
    let (features, values) = matrix.row(row);
    features.iter().copied().zip(values.iter().copied())
}
