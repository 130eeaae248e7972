//! The best entries of several rows side by side, where columns share codes.
//!
//! What no column of a code scores above says which entries could be among the best; only those are scored. It looks up
//! coefficients that are in no cache. So it is done for all rows step by step: the entries of each are found, and what they look
//! up is asked for, before any is scored. As in [`super::own_codes`], nothing branches on entries, but for the few rows in which very
//! many could be among the best.

use std::ops::Range;

use super::{
    CoefficientTable, Kernel, LANES, MAX_BOUNDED_K, MAX_SHORT_LIST, RowScratch, ScoreKind, safe_threshold,
    scalar,
};
use crate::buffers::prefetch::prefetch;
use crate::shard::{Column, Position, Row};

/// The entries of a row that could be among the best.
#[derive(Clone, Default)]
#[repr(align(64))]
pub struct ShortList {
    /// The bounds of the row, among those of all rows.
    bounds: Range<usize>,
    /// What of the row says which bounds are large.
    largest: [f32; MAX_SHORT_LIST],
    /// What all bounds reach of entries that could be among the best.
    least: f32,
    /// How many there are, if so few that all are here.
    pub(super) length: usize,
    /// Behind those that were found there are others that mean nothing, but are entries of the row.
    pub(super) positions: [u32; MAX_SHORT_LIST],
    /// Behind those that were found, 0.
    pub(super) columns: [u32; MAX_SHORT_LIST],
    pub(super) values: [f32; MAX_SHORT_LIST],
    /// Which of them are the best k.
    pub(super) best: [u32; MAX_BOUNDED_K],
}

impl ShortList {
    /// As many as are looked at together: that number differs from few rows to few others only.
    #[inline(always)]
    pub(super) fn padded_length(&self) -> usize {
        if self.length <= LANES { LANES } else { MAX_SHORT_LIST }
    }

    /// Asks for their coefficients, and perhaps several times for those of the first column.
    #[inline(always)]
    pub(super) fn prefetch(&self, table: &CoefficientTable) {
        let columns = self.columns[..self.padded_length()].iter();
        columns.for_each(|&column| prefetch(&table.words, column as usize));
    }

    /// Position and column of the best k, once they are told.
    #[inline]
    pub fn best(&self, k: usize) -> impl Iterator<Item = (Position, Column)> {
        let entry = |&at: &u32| {
            let at = at as usize % MAX_SHORT_LIST;
            (Position(self.positions[at]), Column(self.columns[at]))
        };
        self.best[..k].iter().map(entry)
    }
}

/// Space for rows that are looked at side by side.
#[derive(Default)]
pub struct RowsScratch {
    space: RowScratch,
    rows: Vec<ShortList>,
}

impl CoefficientTable {
    /// Whether [`Kernel::top_k_shared_codes`] can be asked for the best k.
    #[inline]
    pub fn supports_shared_codes(&self, k: usize) -> bool {
        self.score_kind() == ScoreKind::Bound && k <= MAX_BOUNDED_K
    }
}

impl Kernel {
    /// Tells `on_row` of each row its best k entries, if they are found, and a number that none has a single score below.
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
        assert!(table.supports_shared_codes(k), "bounds of shared codes, few wanted");
        match self {
            Kernel::Scalar => {
                let steps = KernelSteps {
                    bound: |row: Row<'r>, bounds: &mut [f32], largest: &mut [f32; MAX_SHORT_LIST]| {
                        largest[0] = scalar::score(table, row, k, bounds);
                    },
                    kth: |largest: &[f32; MAX_SHORT_LIST]| largest[0],
                    find: |row: Row<'r>,
                           bounds: &[f32],
                           least: f32,
                           positions: &mut [u32],
                           short_list: &mut ShortList| {
                        short_list.length = scalar::find(bounds, least, positions);
                        if short_list.length <= MAX_SHORT_LIST {
                            gather(row, positions, short_list);
                            short_list.prefetch(table);
                        }
                    },
                    pick: |short_list: &mut ShortList| {
                        let mut scores = [f32::NEG_INFINITY; MAX_SHORT_LIST];
                        let numbers: [u32; MAX_SHORT_LIST] = std::array::from_fn(|at| at as u32);
                        scalar::score_gathered(
                            table,
                            &short_list.columns,
                            short_list.length,
                            &short_list.values,
                            k,
                            &mut scores,
                        );
                        scalar::pick_top_k(&scores, &numbers[..short_list.length], k, &mut short_list.best)
                    },
                };
                top_k_shared_codes(rows, k, space, steps, on_row);
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.top_k_shared_codes(table, rows, k, space, on_row),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.top_k_shared_codes(table, rows, k, space, on_row),
        }
    }
}

/// Makes `short_list` the entries at the first positions.
fn gather(row: Row<'_>, positions: &[u32], short_list: &mut ShortList) {
    let found = &positions[..short_list.length];
    short_list.positions[..found.len()].copy_from_slice(found);
    short_list.columns.fill(0);
    row.gather(found, &mut short_list.columns, &mut short_list.values);
}

/// What a kernel does with a row, or with what is known of it.
pub(super) struct KernelSteps<B, K, F, P> {
    /// Bounds the scores of a row, and notes something of them.
    pub bound: B,
    /// What at least k single scores reach, by what was noted.
    pub kth: K,
    /// Finds what could be among the best, and if that is not too much gathers it and asks for its coefficients.
    pub find: F,
    /// Picks the best k of it. Returns the smallest of their scores, or none where the next is too close.
    pub pick: P,
}

/// The same by the steps of a kernel. Each is done for all rows before the next: what is done with a row hangs together from
/// beginning to end, but a processor can take the same step for several rows at once.
///
/// Always inlined, so that the steps use the instructions of the caller.
#[inline(always)]
pub(super) fn top_k_shared_codes<'r, B, K, F, P>(
    rows: impl Iterator<Item = Row<'r>> + Clone,
    k: usize,
    space: &mut RowsScratch,
    steps: KernelSteps<B, K, F, P>,
    mut on_row: impl FnMut(Row<'r>, &ShortList, Option<f32>),
) where
    B: Fn(Row<'r>, &mut [f32], &mut [f32; MAX_SHORT_LIST]),
    K: Fn(&[f32; MAX_SHORT_LIST]) -> f32,
    F: Fn(Row<'r>, &[f32], f32, &mut [u32], &mut ShortList),
    P: Fn(&mut ShortList) -> Option<f32>,
{
    let KernelSteps { bound, kth, find, pick } = steps;
    let RowsScratch { space, rows: all } = space;
    let mut end = 0;
    for (number, row) in rows.clone().enumerate() {
        if number == all.len() {
            all.push(ShortList::default());
        }
        let short_list = &mut all[number];
        let start = end;
        end += row.len().next_multiple_of(LANES);
        (short_list.length, short_list.bounds) = (usize::MAX, start..end);
    }
    space.reserve(end);
    let RowScratch { scores, first, positions, .. } = &mut *space;
    let bounds = &mut scores[*first..];
    // Of rows with no more than k entries nothing is asked.
    let longer = |(row, _): &(Row<'r>, &mut ShortList)| row.len() > k;
    for (row, short_list) in rows.clone().zip(&mut *all).filter(longer) {
        bound(row, &mut bounds[short_list.bounds.clone()], &mut short_list.largest);
    }
    for (_, short_list) in rows.clone().zip(&mut *all).filter(longer) {
        short_list.least = safe_threshold(kth(&short_list.largest));
    }
    for (row, short_list) in rows.clone().zip(&mut *all).filter(longer) {
        find(row, &bounds[short_list.bounds.clone()], short_list.least, positions, short_list);
    }
    for (row, short_list) in rows.zip(all) {
        let least = if short_list.length <= MAX_SHORT_LIST { pick(short_list) } else { None };
        on_row(row, short_list, least);
    }
}
