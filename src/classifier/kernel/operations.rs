//! The operations that all kernels have.

use super::shared_codes::ShortList;
use super::{CoefficientTable, GROUP, MAX_BOUNDED_K, ScoreKind, THRESHOLDS};
use crate::shard::Row;

/// Largest scores of disjoint subsets of a row's entries, of which at least k bound the k-th largest score.
pub(super) type Maxima = [f32; 2 * GROUP];

/// The number of maxima for a `k`: at least twice as many, up to [`MAX_BOUNDED_K`](super::MAX_BOUNDED_K) nearly so.
#[inline(always)]
pub(super) fn maxima_count(k: usize) -> usize {
    if k <= GROUP / 2 { GROUP } else { 2 * GROUP }
}

/// Operations on rows, each with the instructions of one kind of processor.
pub(super) trait Operations: Copy {
    /// Writes the scores of a row, of the kind of the table, and minus infinity behind them up to a multiple of [`GROUP`].
    /// `maxima` is then for [`Operations::kth_of_maxima`] with the same `k`.
    fn score(
        self,
        table: &CoefficientTable,
        kind: ScoreKind,
        row: Row<'_>,
        k: usize,
        scores: &mut [f32],
        maxima: &mut Maxima,
    );

    /// [`Operations::score`] with single scores of the first `length` entries, given as columns and values. Both slices have at
    /// least this length, rounded up to a multiple of [`GROUP`], and all columns are in the table.
    fn score_gathered(
        self,
        table: &CoefficientTable,
        entries: (&[u32], &[f32]),
        length: usize,
        k: usize,
        scores: &mut [f32],
        maxima: &mut Maxima,
    );

    /// A number that at least `k` single scores reach, minus infinity at worst.
    fn kth_of_maxima(self, maxima: &Maxima, k: usize) -> f32;

    /// The number of scores that reach each threshold.
    fn count(self, scores: &[f32], thresholds: [f32; THRESHOLDS]) -> [usize; THRESHOLDS];

    /// Writes the positions of scores that reach a threshold, and returns their number. Space for [`GROUP`] others is needed.
    fn find(self, scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize;

    /// Writes those `k` of the first `found` positions that have the largest scores, ascending. Returns the smallest of these
    /// scores, or none if another is too close. There are at least [`MAX_SHORT_LIST`](super::MAX_SHORT_LIST) positions, all with
    /// a score, of which at most that many are found.
    fn pick_top_k(
        self,
        scores: &[f32],
        positions: &[u32],
        found: usize,
        k: usize,
        best: &mut [u32; MAX_BOUNDED_K],
    ) -> Option<f32>;

    /// Makes the entries at the first positions the short list, whose length is set.
    fn gather(self, row: Row<'_>, positions: &[u32], short_list: &mut ShortList);

    /// Makes the entries with bounds from `least` on the short list, if that can be done faster than by their positions.
    /// Returns whether it was done.
    #[inline(always)]
    fn gather_first(self, _row: Row<'_>, _bounds: &[f32], _least: f32, _short_list: &mut ShortList) -> bool {
        false
    }

    /// Picks the best `k` of a short list. Returns the smallest of their scores, or none if another is too close.
    fn pick(self, table: &CoefficientTable, short_list: &mut ShortList, k: usize) -> Option<f32>;
}
