//! Any number of entries of a row, side by side: those that could be among the best.

use super::{CoefficientTable, GROUP, Kernel, Operations};
use crate::buffers::prefetch::prefetch;
use crate::shard::{Column, Position, Row};

/// Entries of a row, numbered from 0, and their single scores.
#[derive(Default)]
pub struct GatheredEntries {
    length: usize,
    /// All of these are longer than `length` and end with arbitrary elements.
    positions: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f32>,
    scores: Vec<f32>,
    picked: Vec<u32>,
    picked_count: usize,
}

impl GatheredEntries {
    #[inline]
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Becomes the entries at `positions`.
    #[inline]
    pub fn gather(&mut self, row: Row<'_>, positions: &[u32]) {
        self.length = positions.len();
        let space = self.length.next_multiple_of(GROUP) + GROUP;
        if self.positions.len() < space {
            self.grow(space);
        }
        self.positions[..positions.len()].copy_from_slice(positions);
        row.gather(positions, &mut self.columns, &mut self.values);
        // The rest of a group is scored too, so it must be in the table.
        self.columns[positions.len()..space].fill(0);
    }

    /// Prefetches the coefficients for scoring.
    #[inline]
    pub fn prefetch(&self, table: &CoefficientTable) {
        self.columns[..self.length].iter().for_each(|&column| prefetch(&table.words, column as usize));
    }

    #[cold]
    fn grow(&mut self, space: usize) {
        self.positions.resize(space, 0);
        self.columns.resize(space, 0);
        self.values.resize(space, 0.0);
        self.scores.resize(space, 0.0);
        self.picked.resize(space + GROUP, 0);
    }

    /// Computes the single scores. Returns a number that at least `k` of them reach, for `k` up to
    /// [`MAX_BOUNDED_K`](super::MAX_BOUNDED_K) one close to the k-th largest.
    #[inline]
    pub fn score(&mut self, kernel: Kernel, table: &CoefficientTable, k: usize) -> f32 {
        let GatheredEntries { length, columns, values, scores, .. } = self;
        let mut maxima = [0.0; 2 * GROUP];
        dispatch!(kernel, operations => {
            operations.score_gathered(table, (columns, values), *length, k, scores, &mut maxima);
            operations.kth_of_maxima(&maxima, k)
        })
    }

    /// Picks the entries with scores from `threshold` on. [`GatheredEntries::picked`] has their numbers, ascending.
    #[inline]
    pub fn pick(&mut self, kernel: Kernel, threshold: f32) {
        let scores = &self.scores[..self.length.next_multiple_of(GROUP)];
        let found = kernel.find_in(scores, threshold, &mut self.picked);
        self.picked_count = self.picked[..found].partition_point(|&at| (at as usize) < self.length);
    }

    #[inline]
    pub fn picked(&self) -> &[u32] {
        &self.picked[..self.picked_count]
    }

    #[inline]
    pub fn position(&self, at: u32) -> Position {
        Position(self.positions[at as usize])
    }

    #[inline]
    pub fn column(&self, at: u32) -> Column {
        Column(self.columns[at as usize])
    }

    /// The single score, once computed.
    #[inline]
    pub fn single_score(&self, at: u32) -> f32 {
        self.scores[at as usize]
    }
}
