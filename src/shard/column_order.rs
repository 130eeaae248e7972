//! The renumbering of labels that puts frequent labels, and labels that are alike, next to each other.

use rayon::prelude::*;

use super::index::{Column, LabelId};
use crate::buffers::ZeroedArray;

/// Columns in order of frequency, the same on all ranks, so that per-column sums can be added across ranks.
///
/// Coefficients of frequent labels then share cache lines. Labels with as many positives and as much hit mass are
/// neighbours: a metric's gradient treats them alike, so one bound for several of them is tight. Labels without
/// positives come last, in their original order.
pub struct ColumnOrder {
    labels_by_column: ZeroedArray<u32>,
    columns_by_label: ZeroedArray<u32>,
}

/// Statistics of each label over the rows of all ranks.
pub struct LabelFrequencies {
    /// Number of rows with the label; if labels are unknown, how often a sample of rows stores it.
    pub positives: Vec<u64>,
    /// Sum of the marginals of the rows with the label, in units of 1 / [`LabelFrequencies::MASS_OF_ONE`].
    pub hit_mass: Vec<u64>,
}

impl LabelFrequencies {
    /// The hit mass of a marginal of 1.
    pub const MASS_OF_ONE: f32 = 64.0;
}

impl ColumnOrder {
    /// With fewer labels all coefficients stay in a core's cache anyway.
    pub const MIN_LABELS: usize = 1 << 15;

    /// Sorts labels by falling positives, then by falling hit mass.
    pub fn new(frequencies: &LabelFrequencies) -> ColumnOrder {
        let LabelFrequencies { positives, hit_mass } = frequencies;
        let labels = positives.len();
        let key = |label: usize| {
            let size = match positives[label] {
                0 => 0,
                some => coarse_key(some) << 16 | coarse_key(hit_mass[label]),
            };
            u64::from(!size) << 32 | label as u64
        };
        let mut keys: Vec<u64> = (0..labels).into_par_iter().map(key).collect();
        keys.par_sort_unstable();
        let mut labels_by_column = ZeroedArray::new(labels);
        let mut columns_by_label = ZeroedArray::new(labels);
        for (column, key) in keys.into_iter().enumerate() {
            labels_by_column[column] = key as u32;
            columns_by_label[key as u32 as usize] = column as u32;
        }
        ColumnOrder { labels_by_column, columns_by_label }
    }

    /// Returns the column of every label.
    pub fn columns_by_label(&self) -> &[u32] {
        &self.columns_by_label
    }

    /// Returns the label of every column.
    pub fn labels_by_column(&self) -> &[u32] {
        &self.labels_by_column
    }

    #[inline]
    pub fn column(&self, label: LabelId) -> Column {
        Column(self.columns_by_label[label.index()])
    }

    #[inline]
    pub fn label(&self, column: Column) -> LabelId {
        LabelId(self.labels_by_column[column.index()])
    }
}

/// Rounds a number to at most 16 bits, keeping order: exact up to 1,024, then 512 steps for each power of two.
fn coarse_key(number: u64) -> u32 {
    let shift = (u64::BITS - number.leading_zeros()).saturating_sub(10);
    (shift << 9) + (number >> shift) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_keys_keep_the_order_and_fit_16_bits() {
        assert!((0..1024).all(|number| coarse_key(number) == number as u32));
        let numbers =
            (0..5000).chain((0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + (1 << bit >> 1)]));
        let mut numbers: Vec<u64> = numbers.chain([u64::MAX]).collect();
        numbers.sort_unstable();
        assert!(numbers.windows(2).all(|pair| coarse_key(pair[0]) <= coarse_key(pair[1])));
        assert!(coarse_key(u64::MAX) < 1 << 16);
        assert!(coarse_key(1 << 20) < coarse_key((1 << 20) + (1 << 12)));
    }

    #[test]
    fn frequent_labels_come_first_and_equally_frequent_ones_are_neighbours() {
        let frequencies =
            LabelFrequencies { positives: vec![1, 0, 7, 1, 0], hit_mass: vec![20, 0, 100, 50, 0] };
        let order = ColumnOrder::new(&frequencies);
        assert_eq!(order.labels_by_column(), [2, 3, 0, 1, 4]);
        assert_eq!(order.columns_by_label(), [2, 3, 0, 1, 4]);
        assert_eq!(order.label(order.column(LabelId(3))), LabelId(3));
    }
}
