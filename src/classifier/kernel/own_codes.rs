//! The best entries of row after row, where every column has its own code.
//!
//! Single precision decides nearly every row, so rows are scored without a branch that depends on their entries: a
//! mispredicted branch costs as much as scoring a dozen entries.

use super::{
    CoefficientTable, GROUP, Kernel, MAX_BOUNDED_K, MAX_SHORT_LIST, Operations, RowScratch, ScoreKind,
    safe_threshold,
};
use crate::shard::{PADDING, Row};

/// The result of scoring a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScoredRow {
    /// The row has at most k entries, which were not scored.
    All,
    /// [`RowScratch::best`] has the best k entries. Their single scores are at least this.
    Best(f32),
    /// [`RowScratch::positions`] has all entries that could be among the best k. Their single scores are at least this.
    Superset(f32),
}

impl CoefficientTable {
    /// Whether [`Kernel::top_k_own_codes`] applies.
    #[inline]
    pub fn supports_own_codes(&self, k: usize) -> bool {
        self.score_kind() == ScoreKind::Single && self.has_own_codes() && k <= MAX_BOUNDED_K
    }
}

impl Kernel {
    /// Scores rows and calls `on_row` for each, with the space that has its scores and positions. `on_row` may leave
    /// other contents there.
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
        assert!(table.supports_own_codes(k), "columns have their own codes, and k is small");
        dispatch!(self, operations => top_k_own_codes(operations, table, rows, k, space, on_row));
    }
}

#[inline(always)]
fn top_k_own_codes<'r>(
    operations: impl Operations,
    table: &CoefficientTable,
    rows: impl Iterator<Item = Row<'r>>,
    k: usize,
    space: &mut RowScratch,
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
        let scores = &mut all[..row.len().next_multiple_of(GROUP)];
        let mut maxima = [0.0; 2 * GROUP];
        operations.score(table, ScoreKind::Single, row, k, scores, &mut maxima);
        let least = safe_threshold(operations.kth_of_maxima(&maxima, k));
        *found = operations.find(scores, least, positions);
        let split = match *found {
            ..=MAX_SHORT_LIST => operations.pick_top_k(all, positions, *found, k, best),
            _ => None,
        };
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

const _: () = assert!(MAX_SHORT_LIST <= 2 * PADDING, "the shortest row has that many positions");
