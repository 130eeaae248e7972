//! The best entries of several rows side by side, where columns share codes.
//!
//! What no column of a code scores above says which entries could be among the best; only those are scored. It looks up
//! coefficients that are in no cache. So it is done for all rows step by step: the entries of each are found, and what they look
//! up is asked for, before any is scored. As in [`super::best`], nothing branches on entries, but for the few rows in which very
//! many could be among the best.

use std::ops::Range;

use super::{AT_ONCE, BOUNDED, Kernel, LANES, Scores, Space, Table, reached, scalar};
use crate::buffers::prefetch::bring;
use crate::shard::Row;

/// The entries of a row that could be among the best.
#[derive(Clone, Default)]
#[repr(align(64))]
pub struct Candidates {
    /// The bounds of the row, among those of all rows.
    bounds: Range<usize>,
    /// What of the row says which bounds are large.
    largest: [f32; AT_ONCE],
    /// What all bounds reach of entries that could be among the best.
    least: f32,
    /// How many there are, if so few that all are here.
    pub(super) found: usize,
    /// Behind those that were found there are others that mean nothing, but are entries of the row.
    pub(super) positions: [u32; AT_ONCE],
    /// Behind those that were found, 0.
    pub(super) columns: [u32; AT_ONCE],
    pub(super) values: [f32; AT_ONCE],
    /// Which of them are the best k.
    pub(super) best: [u32; BOUNDED],
}

impl Candidates {
    /// As many as are looked at together: that number differs from few rows to few others only.
    #[inline(always)]
    pub(super) fn together(&self) -> usize {
        if self.found <= LANES { LANES } else { AT_ONCE }
    }

    /// Asks for their coefficients, and perhaps several times for those of the first column.
    #[inline(always)]
    pub(super) fn bring(&self, table: &Table) {
        let columns = self.columns[..self.together()].iter();
        columns.for_each(|&column| bring(&table.words, column as usize));
    }

    /// Position and column of the best k, once they are told.
    #[inline]
    pub fn best(&self, k: usize) -> impl Iterator<Item = (u32, u32)> {
        let entry = |&at: &u32| (self.positions[at as usize % AT_ONCE], self.columns[at as usize % AT_ONCE]);
        self.best[..k].iter().map(entry)
    }
}

/// Space for rows that are looked at side by side.
#[derive(Default)]
pub struct SideBySide {
    space: Space,
    rows: Vec<Candidates>,
}

impl Table {
    /// Whether [`Kernel::best_side_by_side`] can be asked for the best k.
    #[inline]
    pub fn tells_best_of_shared(&self, k: usize) -> bool {
        self.scores() == Scores::Bound && k <= BOUNDED
    }
}

impl Kernel {
    /// Tells `tell` of each row its best k entries, if they are found, and a number that none has a single score below.
    ///
    /// # Panics
    /// Unless [`Table::tells_best_of_shared`].
    #[inline]
    pub fn best_side_by_side<'r>(
        self,
        table: &Table,
        rows: impl Iterator<Item = Row<'r>> + Clone,
        k: usize,
        space: &mut SideBySide,
        tell: impl FnMut(Row<'r>, &Candidates, Option<f32>),
    ) {
        assert!(table.tells_best_of_shared(k), "bounds of shared codes, few wanted");
        match self {
            Kernel::Scalar => {
                let steps = Steps {
                    bound: |row: Row<'r>, bounds: &mut [f32], largest: &mut [f32; AT_ONCE]| {
                        largest[0] = scalar::score(table, row, k, bounds);
                    },
                    kth: |largest: &[f32; AT_ONCE]| largest[0],
                    find: |row: Row<'r>,
                           bounds: &[f32],
                           least: f32,
                           positions: &mut [u32],
                           few: &mut Candidates| {
                        few.found = scalar::find(bounds, least, positions);
                        if few.found <= AT_ONCE {
                            gather(row, positions, few);
                            few.bring(table);
                        }
                    },
                    pick: |few: &mut Candidates| {
                        let mut scores = [f32::NEG_INFINITY; AT_ONCE];
                        let numbers: [u32; AT_ONCE] = std::array::from_fn(|at| at as u32);
                        scalar::score_few(table, &few.columns, few.found, &few.values, k, &mut scores);
                        scalar::split(&scores, &numbers[..few.found], k, &mut few.best)
                    },
                };
                best_side_by_side(rows, k, space, steps, tell);
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.best_side_by_side(table, rows, k, space, tell),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.best_side_by_side(table, rows, k, space, tell),
        }
    }
}

/// Makes `few` the entries at the first positions.
fn gather(row: Row<'_>, positions: &[u32], few: &mut Candidates) {
    let found = &positions[..few.found];
    few.positions[..found.len()].copy_from_slice(found);
    few.columns.fill(0);
    row.gather(found, &mut few.columns, &mut few.values);
}

/// What a kernel does with a row, or with what is known of it.
pub(super) struct Steps<B, K, F, P> {
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
pub(super) fn best_side_by_side<'r, B, K, F, P>(
    rows: impl Iterator<Item = Row<'r>> + Clone,
    k: usize,
    space: &mut SideBySide,
    steps: Steps<B, K, F, P>,
    mut tell: impl FnMut(Row<'r>, &Candidates, Option<f32>),
) where
    B: Fn(Row<'r>, &mut [f32], &mut [f32; AT_ONCE]),
    K: Fn(&[f32; AT_ONCE]) -> f32,
    F: Fn(Row<'r>, &[f32], f32, &mut [u32], &mut Candidates),
    P: Fn(&mut Candidates) -> Option<f32>,
{
    let Steps { bound, kth, find, pick } = steps;
    let SideBySide { space, rows: all } = space;
    let mut end = 0;
    for (number, row) in rows.clone().enumerate() {
        if number == all.len() {
            all.push(Candidates::default());
        }
        let few = &mut all[number];
        let start = end;
        end += row.len().next_multiple_of(LANES);
        (few.found, few.bounds) = (usize::MAX, start..end);
    }
    space.reserve(end);
    let Space { scores, first, positions, .. } = &mut *space;
    let bounds = &mut scores[*first..];
    // Of rows with no more than k entries nothing is asked.
    let longer = |(row, _): &(Row<'r>, &mut Candidates)| row.len() > k;
    for (row, few) in rows.clone().zip(&mut *all).filter(longer) {
        bound(row, &mut bounds[few.bounds.clone()], &mut few.largest);
    }
    for (_, few) in rows.clone().zip(&mut *all).filter(longer) {
        few.least = reached(kth(&few.largest));
    }
    for (row, few) in rows.clone().zip(&mut *all).filter(longer) {
        find(row, &bounds[few.bounds.clone()], few.least, positions, few);
    }
    for (row, few) in rows.zip(all) {
        let least = if few.found <= AT_ONCE { pick(few) } else { None };
        tell(row, few, least);
    }
}
