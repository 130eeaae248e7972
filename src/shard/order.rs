//! Labels renumbered so that those a pass looks up most lie side by side.

use rayon::prelude::*;

use crate::memory::Zeroed;

/// Columns in order of frequency: the coefficients of frequent labels then share cache lines. With
/// millions of labels most look-ups would else miss every cache. It only changes where things lie:
/// nothing that is computed depends on it.
pub struct Order {
    names: Zeroed<u32>,
    columns: Zeroed<u32>,
}

impl Order {
    /// With fewer labels the coefficients of all of them stay in the cache of a core anyway.
    pub const WORTHWHILE: usize = 1 << 15;

    /// Most frequent first, as far as `sample`, some labels of some entries, can tell.
    pub fn by_frequency(labels: usize, sample: &[u32]) -> Order {
        let mut seen = vec![0u32; labels];
        sample.iter().for_each(|&label| seen[label as usize] += 1);
        // Rising keys: falling counts, then rising labels.
        let key = |(label, &count): (usize, &u32)| u64::from(!count) << 32 | label as u64;
        let mut keys: Vec<u64> = seen.iter().enumerate().map(key).collect();
        keys.par_sort_unstable();
        let mut names = Zeroed::new(labels);
        let mut columns = Zeroed::new(labels);
        for (column, key) in keys.into_iter().enumerate() {
            names[column] = key as u32;
            columns[key as u32 as usize] = column as u32;
        }
        Order { names, columns }
    }

    /// The column of every label.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The label of every column.
    pub fn names(&self) -> &[u32] {
        &self.names
    }
}
