//! The best entries of several rows side by side, where columns share codes.
//!
//! What no column of a code scores above says which entries could be among the best; only those are scored. It looks up
//! coefficients that are in no cache. So it is done for all rows step by step: first the entries of each are found, and what
//! they look up is asked for; then they are scored. As in [`super::best`], nothing branches
//! on entries, but for the few rows in which very many could be among the best.

use super::{AT_ONCE, BOUNDED, Kernel, LANES, Scores, Space, Table, reached, scalar};
use crate::memory::prefetch::bring;
use crate::shard::Row;

/// The entries of a row that could be among the best.
#[derive(Clone, Default)]
#[repr(align(64))]
pub struct Candidates {
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
            Kernel::Scalar => best_side_by_side(
                rows,
                k,
                space,
                |row, scores, positions| {
                    let least = reached(scalar::score(table, row, k, scores));
                    scalar::find(scores, least, positions)
                },
                |row, positions, few| {
                    gather(row, positions, few);
                    few.bring(table);
                },
                |few| {
                    let mut scores = [f32::NEG_INFINITY; AT_ONCE];
                    let numbers: [u32; AT_ONCE] = std::array::from_fn(|at| at as u32);
                    scalar::score_few(table, &few.columns, few.found, &few.values, k, &mut scores);
                    scalar::split(&scores, &numbers[..few.found], k, &mut few.best)
                },
                tell,
            ),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) | Kernel::Avx512(super::avx512::Avx512 { avx2: kernel }) => {
                kernel.best_side_by_side(table, rows, k, space, tell);
            }
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

/// The same with the parts of a kernel: one that scores a row and finds what could be among the best; one that gathers what was
/// found, and asks for its coefficients; and one that picks the best k of it, and returns the smallest of their scores, or none
/// where the next is too close.
///
/// Always inlined, so that the parts use the instructions of the caller.
#[inline(always)]
pub(super) fn best_side_by_side<'r>(
    rows: impl Iterator<Item = Row<'r>> + Clone,
    k: usize,
    space: &mut SideBySide,
    find: impl Fn(Row<'r>, &mut [f32], &mut [u32]) -> usize,
    gather: impl Fn(Row<'r>, &[u32], &mut Candidates),
    split: impl Fn(&mut Candidates) -> Option<f32>,
    mut tell: impl FnMut(Row<'r>, &Candidates, Option<f32>),
) {
    let SideBySide { space, rows: all } = space;
    for (number, row) in rows.clone().enumerate() {
        if number == all.len() {
            all.push(Candidates::default());
        }
        let few = &mut all[number];
        few.found = usize::MAX;
        if row.len() <= k {
            continue;
        }
        space.reserve(row.len());
        let Space { scores, first, positions, .. } = &mut *space;
        let scores = &mut scores[*first..][..row.len().next_multiple_of(LANES)];
        few.found = find(row, scores, positions);
        if few.found <= AT_ONCE {
            gather(row, positions, few);
        }
    }
    for (row, few) in rows.zip(all) {
        let least = if few.found <= AT_ONCE { split(few) } else { None };
        tell(row, few, least);
    }
}
