//! Kernels for x86-64 processors with AVX-512: sixteen entries at a time.

#![allow(unsafe_code)]

mod find;
mod gather_timing;
mod largest;
mod score;
mod short_list;

use self::find::{count, find, find_first};
use self::score::{ScoreBounds, SingleScores, kth_of_maxima, score, score_keeping_maxima};
use self::short_list::{gather, pick};
use super::avx2::Avx2;
use super::own_codes::{ScoredRow, top_k_own_codes};
use super::shared_codes::{KernelSteps, RowsScratch, ShortList, top_k_shared_codes};
use super::{CoefficientTable, LANES, MAX_SHORT_LIST, RowScratch, ScoreKind, THRESHOLDS};
use crate::shard::{ColumnCoding, Row};

/// Proof that this processor has the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512 {
    /// What can be done with shorter vectors just as well.
    pub(super) avx2: Avx2,
    /// Whether to use gather instructions; see [`gather_timing`].
    pub(super) gathers: bool,
}

impl Avx512 {
    /// With and without gathers, the faster one first.
    pub(super) fn detect() -> Option<[Avx512; 2]> {
        let avx2 = Avx2::detect()?;
        let detected = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        // SAFETY: the processor has been seen to have the instructions.
        let gathers = detected.then(|| unsafe { gather_timing::gathers_are_faster() })?;
        Some([gathers, !gathers].map(|gathers| Avx512 { avx2, gathers }))
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
                    match self.gathers {
                        true => score(SingleScores::<true>(&table.words), row, k, scores),
                        false => score(SingleScores::<false>(&table.words), row, k, scores),
                    }
                }
                ScoreKind::Bound => {
                    assert!(table.bounds.len() >= ColumnCoding::CODES, "a bound for every code");
                    match self.gathers {
                        true => score(ScoreBounds::<true>(&table.bounds), row, k, scores),
                        false => score(ScoreBounds::<false>(&table.bounds), row, k, scores),
                    }
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
        unsafe {
            match self.gathers {
                true => self.own_codes_kernel::<true>(&table.words, rows, k, space, on_row),
                false => self.own_codes_kernel::<false>(&table.words, rows, k, space, on_row),
            }
        }
    }

    /// # Safety
    /// The processor has the instructions; there is a word for every code.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
    unsafe fn own_codes_kernel<'r, const GATHERS: bool>(
        self,
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
            |row, scores| unsafe { score(SingleScores::<GATHERS>(words), row, k, scores) },
            |scores, threshold, positions| find(scores, threshold, positions),
            |scores, positions, found, best| self.avx2.pick_top_k(scores, positions, found, k, best),
            on_row,
        );
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
        unsafe {
            match self.gathers {
                true => self.shared_codes_kernel::<true>(table, rows, k, space, on_row),
                false => self.shared_codes_kernel::<false>(table, rows, k, space, on_row),
            }
        }
    }

    /// # Safety
    /// The processor has the instructions; there is a bound for every code.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
    unsafe fn shared_codes_kernel<'r, const GATHERS: bool>(
        self,
        table: &CoefficientTable,
        rows: impl Iterator<Item = Row<'r>> + Clone,
        k: usize,
        space: &mut RowsScratch,
        on_row: impl FnMut(Row<'r>, &ShortList, Option<f32>),
    ) {
        let words: &[u64] = &table.words;
        let steps = KernelSteps {
            bound: |row: Row<'r>, bounds: &mut [f32], largest: &mut [f32; MAX_SHORT_LIST]| {
                // SAFETY: `Row::new` has seen that 16 entries follow the row, and there are as many bounds as entries, rounded
                // up.
                unsafe {
                    score_keeping_maxima(ScoreBounds::<GATHERS>(&table.bounds), row, k, bounds, largest)
                };
            },
            kth: |largest: &[f32; MAX_SHORT_LIST]| kth_of_maxima(largest, k),
            find: |row: Row<'r>,
                   bounds: &[f32],
                   least: f32,
                   positions: &mut [u32],
                   short_list: &mut ShortList| {
                if GATHERS {
                    let (found, first) = find_first(bounds, least);
                    if found <= LANES {
                        short_list.length = found;
                        gather(row, first, short_list);
                        return short_list.prefetch(table);
                    }
                }
                short_list.length = find(bounds, least, positions);
                if short_list.length <= MAX_SHORT_LIST {
                    self.avx2.gather(row, positions, short_list);
                    short_list.prefetch(table);
                }
            },
            pick: |short_list: &mut ShortList| {
                if GATHERS && short_list.length <= LANES {
                    pick(words, short_list, k)
                } else {
                    self.avx2.pick(words, short_list, k)
                }
            },
        };
        top_k_shared_codes(rows, k, space, steps, on_row);
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
