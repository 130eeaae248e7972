//! The best entries of one row after the other, where single precision can tell which they are.
//!
//! For most rows that is all there is to do, so it is done without a branch that depends on the entries: processors
//! guess those wrong, and a wrong guess takes as long as scoring a dozen entries.

use super::{
    CoefficientTable, Kernel, LANES, MAX_BOUNDED_K, MAX_SHORT_LIST, RowScratch, ScoreKind, safe_threshold,
    scalar,
};
use crate::shard::{PADDING, Row};

/// What is known of a row once it is scored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScoredRow {
    /// It has no more than k entries, and they were not scored.
    All,
    /// [`RowScratch::best`] has the best k entries, none of which has a single score below this.
    Best(f32),
    /// [`RowScratch::positions`] has all entries that could be among the best k. None has a single score below this.
    Superset(f32),
}

impl CoefficientTable {
    /// Whether [`Kernel::top_k_own_codes`] can be asked for the best k.
    #[inline]
    pub fn supports_own_codes(&self, k: usize) -> bool {
        self.score_kind() == ScoreKind::Single && self.has_own_codes() && k <= MAX_BOUNDED_K
    }
}

impl Kernel {
    /// Scores rows and tells `on_row` of each what was found, with the space that has its scores and positions. What `on_row`
    /// leaves there may be anything that was found earlier.
    ///
    /// # Panics
    /// Unless [`CoefficientTable::supports_own_codes`].
    #[inline]
    pub fn top_k_own_codes<'r>(
        self,
        table: &CoefficientTable,
        rows: impl Iterator<Item = Row<'r>>,
        k: usize,
        space: &mut RowScratch,
        on_row: impl FnMut(Row<'r>, &mut RowScratch, ScoredRow),
    ) {
        assert!(table.supports_own_codes(k), "single scores of columns with codes of their own, few wanted");
        match self {
            Kernel::Scalar => top_k_own_codes(
                rows,
                k,
                space,
                |row, scores| scalar::score(table, row, k, scores),
                scalar::find,
                |scores, positions, found, best| scalar::pick_top_k(scores, &positions[..found], k, best),
                on_row,
            ),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.top_k_own_codes(table, rows, k, space, on_row),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.top_k_own_codes(table, rows, k, space, on_row),
        }
    }
}

/// The same with the parts of a kernel: one that scores a row, one that finds what reaches a score, and one that picks the
/// best k of the first positions: it returns the smallest of their scores, or none where the next is too close.
///
/// Always inlined, so that the parts use the instructions of the caller.
#[inline(always)]
pub(super) fn top_k_own_codes<'r>(
    rows: impl Iterator<Item = Row<'r>>,
    k: usize,
    space: &mut RowScratch,
    score: impl Fn(Row<'r>, &mut [f32]) -> f32,
    find: impl Fn(&[f32], f32, &mut [u32]) -> usize,
    pick_top_k: impl Fn(&[f32], &[u32], usize, &mut [u32; MAX_BOUNDED_K]) -> Option<f32>,
    mut on_row: impl FnMut(Row<'r>, &mut RowScratch, ScoredRow),
) {
    for row in rows {
        if row.len() <= k {
            on_row(row, space, ScoredRow::All);
            continue;
        }
        space.reserve(row.len());
        let RowScratch { scores, first, positions, found, best } = space;
        let all = &mut scores[*first..];
        let scores = &mut all[..row.len().next_multiple_of(LANES)];
        let least = safe_threshold(score(row, scores));
        *found = find(scores, least, positions);
        let split = if *found <= MAX_SHORT_LIST { pick_top_k(all, positions, *found, best) } else { None };
        let found = match split {
            Some(least) => ScoredRow::Best(least),
            None => {
                space.drop_padding(row.len());
                ScoredRow::Superset(least)
            }
        };
        on_row(row, space, found);
    }
}

const _: () = assert!(LANES == PADDING, "scores are padded like rows");
const _: () = assert!(MAX_SHORT_LIST <= 2 * PADDING, "there are as many positions even for the shortest row");
