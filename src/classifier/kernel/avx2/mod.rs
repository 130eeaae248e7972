//! Kernels for x86-64 processors with AVX2 and FMA: eight entries at a time.
//!
//! Pairs are looked up by plain 64-bit loads: on the processors tried, gather instructions are slower.

#![allow(unsafe_code)]

mod candidates;
mod find;
mod largest;
pub(super) mod score;

use self::candidates::{gather, pick};
use self::find::{contains, count, find};
use self::largest::split;
use self::score::{Bounds, Singles, kth_of, score, score_few, score_into};
use super::best::{Found, best_of_each};
use super::shared::{Candidates, SideBySide, Steps, best_side_by_side};
use super::{AT_ONCE, BOUNDED, LANES, PROBES, Scores, Space, Table};
use crate::shard::{Grouping, Row};

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
    pub(super) fn score(self, table: &Table, row: Row<'_>, k: usize, scores: &mut [f32]) -> f32 {
        assert!(scores.len() >= row.len().next_multiple_of(LANES), "space for the scores");
        // SAFETY: `self` proves the instructions. `Row::new` has seen that 16 entries follow the row, so groups of
        // 16 stay within both slices; the scores have been checked; a table has a word and, where it has any, a
        // bound for every code, which is checked again.
        unsafe {
            match table.scores() {
                Scores::Single => {
                    assert!(table.words.len() >= Grouping::CODES, "a word for every code");
                    score(Singles(&table.words), row, k, scores)
                }
                Scores::Bound => {
                    assert!(table.bounds.len() >= Grouping::CODES, "a bound for every code");
                    score(Bounds(&table.bounds), row, k, scores)
                }
            }
        }
    }

    #[inline]
    pub(super) fn best_of_each<'r>(
        self,
        table: &Table,
        rows: impl Iterator<Item = Row<'r>>,
        k: usize,
        space: &mut Space,
        tell: impl FnMut(Row<'r>, &mut Space, Found),
    ) {
        assert!(table.words.len() >= Grouping::CODES, "a word for every code");
        // SAFETY: `self` proves the instructions, and the words have been checked.
        unsafe { best_of_rows(&table.words, rows, k, space, tell) }
    }

    #[inline]
    pub(super) fn best_side_by_side<'r>(
        self,
        table: &Table,
        rows: impl Iterator<Item = Row<'r>> + Clone,
        k: usize,
        space: &mut SideBySide,
        tell: impl FnMut(Row<'r>, &Candidates, Option<f32>),
    ) {
        assert!(table.bounds.len() >= Grouping::CODES, "a bound for every code");
        // SAFETY: `self` proves the instructions, and the bounds have been checked.
        unsafe { best_of_shared(table, rows, k, space, tell) }
    }

    /// Writes those `k` of the first `found` positions, up to [`AT_ONCE`](super::AT_ONCE), that have the largest scores.
    /// Returns the smallest of those scores, or nothing where another is too close. There are [`AT_ONCE`](super::AT_ONCE)
    /// positions at least, and all have a score.
    #[inline]
    pub(super) fn split(
        self,
        scores: &[f32],
        positions: &[u32],
        found: usize,
        k: usize,
        best: &mut [u32; BOUNDED],
    ) -> Option<f32> {
        // SAFETY: `self` proves the instructions.
        unsafe { split(scores, positions, found, k, best) }
    }

    /// Makes `few` the entries at the first positions.
    #[inline]
    pub(super) fn gather(self, row: Row<'_>, positions: &[u32], few: &mut Candidates) {
        // SAFETY: `self` proves the instructions.
        unsafe { gather(row, positions, few) }
    }

    /// Picks the best `k`. Returns the smallest of their scores, or nothing where another is too close.
    #[inline]
    pub(super) fn pick(self, words: &[u64], few: &mut Candidates, k: usize) -> Option<f32> {
        // SAFETY: `self` proves the instructions.
        unsafe { pick(words, few, k) }
    }

    /// Writes the single scores of the first `length` columns, and minus infinity for the rest. Returns what at
    /// least `k` scores reach.
    ///
    /// # Panics
    /// When a column has no word in the table, or a slice is shorter than `columns`.
    #[inline]
    pub(super) fn score_few(
        self,
        table: &Table,
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
        unsafe { score_few(&table.words, columns, length, values, k, scores) }
    }

    #[inline]
    pub(super) fn contains(self, codes: &[u16], code: u16) -> bool {
        // SAFETY: `self` proves the instructions.
        unsafe { contains(codes, code) }
    }

    #[inline]
    pub(super) fn count(self, scores: &[f32], thresholds: [f32; PROBES]) -> [usize; PROBES] {
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
unsafe fn best_of_rows<'r>(
    words: &[u64],
    rows: impl Iterator<Item = Row<'r>>,
    k: usize,
    space: &mut Space,
    tell: impl FnMut(Row<'r>, &mut Space, Found),
) {
    best_of_each(
        rows,
        k,
        space,
        // SAFETY: `Row::new` has seen that 16 entries follow the row, and there are as many scores as entries, rounded up.
        |row, scores| unsafe { score(Singles(words), row, k, scores) },
        |scores, threshold, positions| find(scores, threshold, positions),
        |scores, positions, found, best| split(scores, positions, found, k, best),
        tell,
    );
}

/// # Safety
/// The processor has the instructions; there is a bound for every code.
#[target_feature(enable = "avx2,fma,popcnt")]
unsafe fn best_of_shared<'r>(
    table: &Table,
    rows: impl Iterator<Item = Row<'r>> + Clone,
    k: usize,
    space: &mut SideBySide,
    tell: impl FnMut(Row<'r>, &Candidates, Option<f32>),
) {
    let words: &[u64] = &table.words;
    let steps = Steps {
        bound: |row: Row<'r>, bounds: &mut [f32], largest: &mut [f32; AT_ONCE]| {
            // SAFETY: `Row::new` has seen that 16 entries follow the row, and there are as many bounds as entries, rounded up.
            unsafe { score_into(Bounds(&table.bounds), row, k, bounds, largest) };
        },
        kth: |largest: &[f32; AT_ONCE]| kth_of(largest, k),
        find: |row: Row<'r>, bounds: &[f32], least: f32, positions: &mut [u32], few: &mut Candidates| {
            few.found = find(bounds, least, positions);
            if few.found <= AT_ONCE {
                gather(row, positions, few);
                few.bring(table);
            }
        },
        pick: |few: &mut Candidates| pick(words, few, k),
    };
    best_side_by_side(rows, k, space, steps, tell);
}
