//! The best entries of several rows side by side, where columns share codes.
//!
//! Bounds of all columns of a code tell which entries could be among the best. Only those are scored, because their
//! coefficients are in no cache. So every step is done for all rows before the next one, and coefficients are prefetched
//! in the step before. As in [`super::own_codes`], no branch depends on entries, except in the few rows in which very many could be
//! among the best.

use std::ops::Range;

use super::{
    CoefficientTable, GROUP, Kernel, MAX_BOUNDED_K, MAX_SHORT_LIST, Maxima, Operations, RowScratch,
    ScoreKind, safe_threshold,
};
use crate::buffers::prefetch::prefetch;
use crate::shard::{Column, Position, Row};

/// The entries of a row that could be among the best.
#[derive(Clone, Default)]
#[repr(align(64))]
pub struct ShortList {
    /// The bounds of the row, among those of all rows.
    bounds: Range<usize>,
    maxima: Maxima,
    /// The bounds of all entries that could be among the best are at least this.
    least: f32,
    /// The number of entries found. They are listed if there are at most [`MAX_SHORT_LIST`].
    pub(super) length: usize,
    /// Behind the found ones: other positions of the row.
    pub(super) positions: [u32; MAX_SHORT_LIST],
    /// Behind the found ones: 0.
    pub(super) columns: [u32; MAX_SHORT_LIST],
    pub(super) values: [f32; MAX_SHORT_LIST],
    /// The best k, by their places in this list.
    pub(super) best: [u32; MAX_BOUNDED_K],
}

impl ShortList {
    /// The number of entries processed, found or not. It rarely differs between rows, so that it is predicted well.
    #[inline(always)]
    pub(super) fn padded_length(&self) -> usize {
        if self.length <= GROUP { GROUP } else { MAX_SHORT_LIST }
    }

    /// Prefetches coefficients, perhaps several times those of the first column.
    #[inline(always)]
    fn prefetch(&self, table: &CoefficientTable) {
        let columns = self.columns[..self.padded_length()].iter();
        columns.for_each(|&column| prefetch(&table.words, column as usize));
    }

    /// Positions and columns of the best k.
    #[inline]
    pub fn best(&self, k: usize) -> impl Iterator<Item = (Position, Column)> {
        let places = self.best[..k].iter().map(|&at| at as usize % MAX_SHORT_LIST);
        places.map(|at| (Position(self.positions[at]), Column(self.columns[at])))
    }
}

/// Reusable space for rows that are processed side by side.
#[derive(Default)]
pub struct RowsScratch {
    space: RowScratch,
    rows: Vec<ShortList>,
}

impl CoefficientTable {
    /// Whether [`Kernel::top_k_shared_codes`] applies.
    #[inline]
    pub fn supports_shared_codes(&self, k: usize) -> bool {
        self.score_kind() == ScoreKind::Bound && k <= MAX_BOUNDED_K
    }
}

impl Kernel {
    /// Calls `on_row` for each row. If its best k entries were found, it gets them and a lower bound of their single scores.
    ///
    /// # Panics
    /// Unless [`CoefficientTable::supports_shared_codes`].
    #[inline]
    pub fn top_k_shared_codes<'r>(
        self,
        table: &CoefficientTable,
        rows: impl Iterator<Item = Row<'r>> + Clone,
        k: usize,
        space: &mut RowsScratch,
        on_row: impl FnMut(Row<'r>, &ShortList, Option<f32>),
    ) {
        assert!(table.supports_shared_codes(k), "codes have bounds, and k is small");
        dispatch!(self, operations => top_k_shared_codes(operations, table, rows, k, space, on_row));
    }
}

/// The operations on one row depend on each other, but a processor can overlap the same one for several rows.
#[inline(always)]
fn top_k_shared_codes<'r>(
    operations: impl Operations,
    table: &CoefficientTable,
    rows: impl Iterator<Item = Row<'r>> + Clone,
    k: usize,
    space: &mut RowsScratch,
    mut on_row: impl FnMut(Row<'r>, &ShortList, Option<f32>),
) {
    let RowsScratch { space, rows: all } = space;
    let mut end = 0;
    for (number, row) in rows.clone().enumerate() {
        if number == all.len() {
            all.push(ShortList::default());
        }
        let start = end;
        end += row.len().next_multiple_of(GROUP);
        (all[number].length, all[number].bounds) = (usize::MAX, start..end);
    }
    space.reserve(end);
    let RowScratch { scores, first, positions, .. } = &mut *space;
    let bounds = &mut scores[*first..];
    // Rows with at most k entries need no search.
    let longer = |(row, _): &(Row<'r>, &mut ShortList)| row.len() > k;
    for (row, list) in rows.clone().zip(&mut *all).filter(longer) {
        let bounds = &mut bounds[list.bounds.clone()];
        operations.score(table, ScoreKind::Bound, row, k, bounds, &mut list.maxima);
    }
    for (_, list) in rows.clone().zip(&mut *all).filter(longer) {
        list.least = safe_threshold(operations.kth_of_maxima(&list.maxima, k));
    }
    for (row, list) in rows.clone().zip(&mut *all).filter(longer) {
        let bounds = &bounds[list.bounds.clone()];
        if !operations.gather_first(row, bounds, list.least, list) {
            list.length = operations.find(bounds, list.least, positions);
            if list.length <= MAX_SHORT_LIST {
                operations.gather(row, positions, list);
            }
        }
        if list.length <= MAX_SHORT_LIST {
            list.prefetch(table);
        }
    }
    for (row, list) in rows.zip(all) {
        let least = if list.length <= MAX_SHORT_LIST { operations.pick(table, list, k) } else { None };
        on_row(row, list, least);
    }
}
