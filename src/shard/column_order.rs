//! Labels renumbered so that those a pass looks up most lie side by side, and so do those that are alike.

use rayon::prelude::*;

use crate::buffers::ZeroedArray;

/// Columns in order of frequency. The coefficients of frequent labels then share cache lines, and labels with as
/// many positives, of which a classifier finds as many, are neighbours: what the gradient of a metric makes of them is
/// much the same, so that one bound for several of them is close to each. Those without any come last, in their own order.
///
/// It is the same on all ranks: what is added up label by label can be added up in this order.
pub struct ColumnOrder {
    labels_by_column: ZeroedArray<u32>,
    columns_by_label: ZeroedArray<u32>,
}

/// What the rows of all ranks say of each label.
pub struct LabelFrequencies {
    /// Instances that have it; or, where that is not known, how often it was seen in a sample.
    pub positives: Vec<u64>,
    /// How large their marginals are together, in units of [`LabelFrequencies::MASS_OF_ONE`]: a classifier finds those of large ones. Of labels
    /// with as many positives those are alike of which it finds as many.
    pub hit_mass: Vec<u64>,
}

impl LabelFrequencies {
    /// What a marginal of 1 adds.
    pub const MASS_OF_ONE: f32 = 64.0;
}

impl ColumnOrder {
    /// With fewer labels the coefficients of all of them stay in the cache of a core anyway.
    pub const MIN_LABELS: usize = 1 << 15;

    /// Those with most positives first; of as many, those that are found most easily.
    pub fn new(known: &LabelFrequencies) -> ColumnOrder {
        let LabelFrequencies { positives, hit_mass } = known;
        let labels = positives.len();
        // Rising keys: falling numbers, then rising labels.
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

    /// The column of every label.
    pub fn columns_by_label(&self) -> &[u32] {
        &self.columns_by_label
    }

    /// The label of every column.
    pub fn labels_by_column(&self) -> &[u32] {
        &self.labels_by_column
    }
}

/// A number in at most 15 bits that keeps its order: exact up to 1,024, then 512 steps to each power of two.
fn coarse_key(number: u64) -> u32 {
    let shift = (u64::BITS - number.leading_zeros()).saturating_sub(10);
    (shift << 9) + (number >> shift) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rough_numbers_keep_the_order_and_fit() {
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
    fn labels_with_as_many_positives_are_neighbours_and_frequent_ones_come_first() {
        let known = LabelFrequencies { positives: vec![1, 0, 7, 1, 0], hit_mass: vec![20, 0, 100, 50, 0] };
        let order = ColumnOrder::new(&known);
        assert_eq!(order.labels_by_column(), [2, 3, 0, 1, 4]);
        assert_eq!(order.columns_by_label(), [2, 3, 0, 1, 4]);
    }
}
