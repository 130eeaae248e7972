//! Some entries of a row, side by side: those that could be among the best.

use super::{CoefficientTable, Kernel, LANES, scalar};
use crate::buffers::prefetch;
use crate::shard::{Column, PADDING, Position, Row};

/// Entries that were found in a row, and what is known of them. Each has a number, from 0.
#[derive(Default)]
pub struct GatheredEntries {
    length: usize,
    /// All of these are longer than `length`, by entries that mean nothing.
    positions: Vec<u32>,
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<f32>,
    pub(super) scores: Vec<f32>,
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
        let room = self.length.next_multiple_of(LANES) + PADDING;
        if self.positions.len() < room {
            self.grow(room);
        }
        let GatheredEntries { columns, values, .. } = self;
        self.positions[..positions.len()].copy_from_slice(positions);
        row.gather(positions, columns, values);
        // What follows is scored too, and must have a place in the table.
        columns[positions.len()..room].fill(0);
    }

    /// Asks for the coefficients that scoring will look up.
    #[inline]
    pub fn prefetch(&self, table: &CoefficientTable) {
        self.columns[..self.length]
            .iter()
            .for_each(|&column| prefetch::prefetch(&table.words, column as usize));
    }

    #[cold]
    fn grow(&mut self, room: usize) {
        self.positions.resize(room, 0);
        self.columns.resize(room, 0);
        self.values.resize(room, 0.0);
        self.scores.resize(room, 0.0);
        self.picked.resize(room + PADDING, 0);
    }

    /// Takes their single scores. Returns what at least `k` of them reach, close to the k-th largest for `k` up to
    /// [`MAX_BOUNDED_K`](super::MAX_BOUNDED_K).
    #[inline]
    pub fn score(&mut self, kernel: Kernel, table: &CoefficientTable, k: usize) -> f32 {
        let GatheredEntries { length, columns, values, scores, .. } = self;
        let whole = length.next_multiple_of(LANES);
        let columns = &columns[..whole];
        match kernel {
            Kernel::Scalar => scalar::score_gathered(table, columns, *length, values, k, scores),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) | Kernel::Avx512(super::avx512::Avx512 { avx2: kernel, .. }) => {
                kernel.score_gathered(table, columns, *length, values, k, scores)
            }
        }
    }

    /// Picks those whose score is at least `threshold`; [`GatheredEntries::picked`] has their numbers, ascending.
    #[inline]
    pub fn pick(&mut self, kernel: Kernel, threshold: f32) {
        let scores = &self.scores[..self.length.next_multiple_of(LANES)];
        let found = kernel.find_in(scores, threshold, &mut self.picked);
        self.picked_count =
            found.min(self.picked[..found].partition_point(|&at| (at as usize) < self.length));
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

    /// The single score, once it has been taken.
    #[inline]
    pub fn single_score(&self, at: u32) -> f32 {
        self.scores[at as usize]
    }
}
