//! Kernels for x86-64 processors with AVX2 and FMA: eight entries at a time.
//!
//! Pairs are looked up by plain 64-bit loads: on the processors tried, gather instructions are slower.

#![allow(unsafe_code)]

mod find;
mod largest;
pub(super) mod score;
mod short_list;

use self::find::{contains, count, find};
use self::largest::pick_top_k;
use self::score::{ScoreBounds, SingleScores, kth_of_maxima, score, score_gathered, score_keeping_maxima};
use self::short_list::{gather, pick};
use super::own_codes::{ScoredRow, top_k_own_codes};
use super::shared_codes::{KernelSteps, RowsScratch, ShortList, top_k_shared_codes};
use super::{CoefficientTable, LANES, MAX_BOUNDED_K, MAX_SHORT_LIST, RowScratch, ScoreKind, THRESHOLDS};
use crate::shard::{ColumnCoding, Row};

/// Proof that this processor has the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Avx2> {
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("popcnt"))
        .then_some(Avx2(()))
    }

    #[inline]
    pub(super) fn score(self, table: &CoefficientTable, row: Row<'_>, k: usize, scores: &mut [f32]) -> f32 {
        assert!(scores.len() >= row.len().next_multiple_of(LANES), "space for the scores");
        // SAFETY: `self` proves the instructions. `Row::new` has seen that 16 entries follow the row, so groups of
        // 16 stay within both slices; the scores have been checked; a table has a word and, where it has any, a
        // bound for every code, which is checked again.
        unsafe {
            match table.score_kind() {
                ScoreKind::Single => {
                    assert!(table.words.len() >= ColumnCoding::CODES, "a word for every code");
                    score(SingleScores(&table.words), row, k, scores)
                }
                ScoreKind::Bound => {
                    assert!(table.bounds.len() >= ColumnCoding::CODES, "a bound for every code");
                    score(ScoreBounds(&table.bounds), row, k, scores)
                }
            }
        }
    }

    #[inline]
    pub(super) fn top_k_own_codes<'r>(
        self,
        table: &CoefficientTable,
        rows: impl Iterator<Item = Row<'r>>,
        k: usize,
        space: &mut RowScratch,
        on_row: impl FnMut(Row<'r>, &mut RowScratch, ScoredRow),
    ) {
        assert!(table.words.len() >= ColumnCoding::CODES, "a word for every code");
        // SAFETY: `self` proves the instructions, and the words have been checked.
        unsafe { own_codes_kernel(&table.words, rows, k, space, on_row) }
    }

    #[inline]
    pub(super) fn top_k_shared_codes<'r>(
        self,
        table: &CoefficientTable,
        rows: impl Iterator<Item = Row<'r>> + Clone,
        k: usize,
        space: &mut RowsScratch,
        on_row: impl FnMut(Row<'r>, &ShortList, Option<f32>),
    ) {
        assert!(table.bounds.len() >= ColumnCoding::CODES, "a bound for every code");
        // SAFETY: `self` proves the instructions, and the bounds have been checked.
        unsafe { shared_codes_kernel(table, rows, k, space, on_row) }
    }

    /// Writes those `k` of the first `found` positions, up to [`MAX_SHORT_LIST`](super::MAX_SHORT_LIST), that have the largest scores.
    /// Returns the smallest of those scores, or nothing where another is too close. There are [`MAX_SHORT_LIST`](super::MAX_SHORT_LIST)
    /// positions at least, and all have a score.
    #[inline]
    pub(super) fn pick_top_k(
        self,
        scores: &[f32],
        positions: &[u32],
        found: usize,
        k: usize,
        best: &mut [u32; MAX_BOUNDED_K],
    ) -> Option<f32> {
        // SAFETY: `self` proves the instructions.
        unsafe { pick_top_k(scores, positions, found, k, best) }
    }

    /// Makes `short_list` the entries at the first positions.
    #[inline]
    pub(super) fn gather(self, row: Row<'_>, positions: &[u32], short_list: &mut ShortList) {
        // SAFETY: `self` proves the instructions.
        unsafe { gather(row, positions, short_list) }
    }

    /// Picks the best `k`. Returns the smallest of their scores, or nothing where another is too close.
    #[inline]
    pub(super) fn pick(self, words: &[u64], short_list: &mut ShortList, k: usize) -> Option<f32> {
        // SAFETY: `self` proves the instructions.
        unsafe { pick(words, short_list, k) }
    }

    /// Writes the single scores of the first `length` columns, and minus infinity for the rest. Returns what at
    /// least `k` scores reach.
    ///
    /// # Panics
    /// When a column has no word in the table, or a slice is shorter than `columns`.
    #[inline]
    pub(super) fn score_gathered(
        self,
        table: &CoefficientTable,
        columns: &[u32],
        length: usize,
        values: &[f32],
        k: usize,
        scores: &mut [f32],
    ) -> f32 {
        let whole = columns.len();
        assert!(
            whole.is_multiple_of(LANES) && values.len() >= whole && scores.len() >= whole,
            "whole vectors"
        );
        // SAFETY: `self` proves the instructions, and the lengths have been checked.
        unsafe { score_gathered(&table.words, columns, length, values, k, scores) }
    }

    #[inline]
    pub(super) fn contains(self, codes: &[u16], code: u16) -> bool {
        // SAFETY: `self` proves the instructions.
        unsafe { contains(codes, code) }
    }

    #[inline]
    pub(super) fn count(self, scores: &[f32], thresholds: [f32; THRESHOLDS]) -> [usize; THRESHOLDS] {
        // SAFETY: `self` proves the instructions.
        unsafe { count(scores, thresholds) }
    }

    #[inline]
    pub(super) fn find(self, scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
        // SAFETY: `self` proves the instructions.
        unsafe { find(scores, threshold, positions) }
    }
}

/// # Safety
/// The processor has the instructions; there is a word for every code.
#[target_feature(enable = "avx2,fma,popcnt")]
unsafe fn own_codes_kernel<'r>(
    words: &[u64],
    rows: impl Iterator<Item = Row<'r>>,
    k: usize,
    space: &mut RowScratch,
    on_row: impl FnMut(Row<'r>, &mut RowScratch, ScoredRow),
) {
    top_k_own_codes(
        rows,
        k,
        space,
        // SAFETY: `Row::new` has seen that 16 entries follow the row, and there are as many scores as entries, rounded up.
        |row, scores| unsafe { score(SingleScores(words), row, k, scores) },
        |scores, threshold, positions| find(scores, threshold, positions),
        |scores, positions, found, best| pick_top_k(scores, positions, found, k, best),
        on_row,
    );
}

/// # Safety
/// The processor has the instructions; there is a bound for every code.
#[target_feature(enable = "avx2,fma,popcnt")]
unsafe fn shared_codes_kernel<'r>(
    table: &CoefficientTable,
    rows: impl Iterator<Item = Row<'r>> + Clone,
    k: usize,
    space: &mut RowsScratch,
    on_row: impl FnMut(Row<'r>, &ShortList, Option<f32>),
) {
    let words: &[u64] = &table.words;
    let steps = KernelSteps {
        bound: |row: Row<'r>, bounds: &mut [f32], largest: &mut [f32; MAX_SHORT_LIST]| {
            // SAFETY: `Row::new` has seen that 16 entries follow the row, and there are as many bounds as entries, rounded up.
            unsafe { score_keeping_maxima(ScoreBounds(&table.bounds), row, k, bounds, largest) };
        },
        kth: |largest: &[f32; MAX_SHORT_LIST]| kth_of_maxima(largest, k),
        find: |row: Row<'r>,
               bounds: &[f32],
               least: f32,
               positions: &mut [u32],
               short_list: &mut ShortList| {
            short_list.length = find(bounds, least, positions);
            if short_list.length <= MAX_SHORT_LIST {
                gather(row, positions, short_list);
                short_list.prefetch(table);
            }
        },
        pick: |short_list: &mut ShortList| pick(words, short_list, k),
    };
    top_k_shared_codes(rows, k, space, steps, on_row);
}
