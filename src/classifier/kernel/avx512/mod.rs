//! Kernels for x86-64 processors with AVX-512: sixteen entries at a time.

#![allow(unsafe_code)]

mod candidates;
mod find;
mod gathers;
mod largest;
mod score;

use self::candidates::{gather, pick};
use self::find::{count, find, find_first};
use self::score::{Bounds, Singles, kth_of, score, score_into};
use super::avx2::Avx2;
use super::best::{Found, best_of_each};
use super::shared::{Candidates, SideBySide, Steps, best_side_by_side};
use super::{AT_ONCE, LANES, PROBES, Scores, Space, Table};
use crate::shard::{Grouping, Row};

/// Proof that this processor has the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512 {
    /// What can be done with shorter vectors just as well.
    pub(super) avx2: Avx2,
    /// Whether to use gather instructions; see [`gathers`].
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
        let gathers = detected.then(|| unsafe { gathers::are_faster() })?;
        Some([gathers, !gathers].map(|gathers| Avx512 { avx2, gathers }))
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
                    match self.gathers {
                        true => score(Singles::<true>(&table.words), row, k, scores),
                        false => score(Singles::<false>(&table.words), row, k, scores),
                    }
                }
                Scores::Bound => {
                    assert!(table.bounds.len() >= Grouping::CODES, "a bound for every code");
                    match self.gathers {
                        true => score(Bounds::<true>(&table.bounds), row, k, scores),
                        false => score(Bounds::<false>(&table.bounds), row, k, scores),
                    }
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
        unsafe {
            match self.gathers {
                true => self.best_of_rows::<true>(&table.words, rows, k, space, tell),
                false => self.best_of_rows::<false>(&table.words, rows, k, space, tell),
            }
        }
    }

    /// # Safety
    /// The processor has the instructions; there is a word for every code.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
    unsafe fn best_of_rows<'r, const GATHERS: bool>(
        self,
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
            |row, scores| unsafe { score(Singles::<GATHERS>(words), row, k, scores) },
            |scores, threshold, positions| find(scores, threshold, positions),
            |scores, positions, found, best| self.avx2.split(scores, positions, found, k, best),
            tell,
        );
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
        unsafe {
            match self.gathers {
                true => self.best_of_shared::<true>(table, rows, k, space, tell),
                false => self.best_of_shared::<false>(table, rows, k, space, tell),
            }
        }
    }

    /// # Safety
    /// The processor has the instructions; there is a bound for every code.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
    unsafe fn best_of_shared<'r, const GATHERS: bool>(
        self,
        table: &Table,
        rows: impl Iterator<Item = Row<'r>> + Clone,
        k: usize,
        space: &mut SideBySide,
        tell: impl FnMut(Row<'r>, &Candidates, Option<f32>),
    ) {
        let words: &[u64] = &table.words;
        let steps = Steps {
            bound: |row: Row<'r>, bounds: &mut [f32], largest: &mut [f32; AT_ONCE]| {
                // SAFETY: `Row::new` has seen that 16 entries follow the row, and there are as many bounds as entries, rounded
                // up.
                unsafe { score_into(Bounds::<GATHERS>(&table.bounds), row, k, bounds, largest) };
            },
            kth: |largest: &[f32; AT_ONCE]| kth_of(largest, k),
            find: |row: Row<'r>, bounds: &[f32], least: f32, positions: &mut [u32], few: &mut Candidates| {
                if GATHERS {
                    let (found, first) = find_first(bounds, least);
                    if found <= LANES {
                        few.found = found;
                        gather(row, first, few);
                        return few.bring(table);
                    }
                }
                few.found = find(bounds, least, positions);
                if few.found <= AT_ONCE {
                    self.avx2.gather(row, positions, few);
                    few.bring(table);
                }
            },
            pick: |few: &mut Candidates| {
                if GATHERS && few.found <= LANES {
                    pick(words, few, k)
                } else {
                    self.avx2.pick(words, few, k)
                }
            },
        };
        best_side_by_side(rows, k, space, steps, tell);
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
