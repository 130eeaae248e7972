//! The best entries of several rows side by side, where columns share codes.
//!
//! What no column of a code scores above says which entries could be among the best; only those are scored. It looks up
//! coefficients that are in no cache. So it is done for all rows step by step: first the entries of each are found, and what
//! they look up is asked for while the next row is looked at; then they are scored. As in [`super::best`], nothing branches
//! on entries, but for the few rows in which very many could be among the best.

use super::{AT_ONCE, BOUNDED, Kernel, LANES, Scores, Space, Table, scalar};
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

    /// Columns that will be looked up, and perhaps the first one several times.
    #[inline(always)]
    fn asked_for(&self) -> &[u32] {
        &self.columns[..self.together()]
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
                |row, scores, _| scalar::score(table, row, k, scores),
                scalar::find,
                gather,
                |few| {
                    let mut scores = [f32::NEG_INFINITY; AT_ONCE];
                    let numbers: [u32; AT_ONCE] = std::array::from_fn(|at| at as u32);
                    scalar::score_few(table, &few.columns, few.found, &few.values, k, &mut scores);
                    scalar::split(&scores, &numbers[..few.found], k, &mut few.best)
                },
                |few| few.bring(table),
                tell,
            ),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) | Kernel::Avx512(super::avx512::Avx512 { avx2: kernel }) => {
                kernel.best_side_by_side(table, rows, k, space, tell);
            }
        }
    }
}

impl Candidates {
    /// Asks for all coefficients at once.
    #[inline(always)]
    pub(super) fn bring(&self, table: &Table) {
        let columns = self.asked_for().iter();
        columns.for_each(|&column| crate::memory::prefetch::bring(&table.words, column as usize));
    }
}

/// Makes `few` the entries at the first positions.
fn gather(row: Row<'_>, positions: &[u32], few: &mut Candidates) {
    let found = &positions[..few.found];
    few.positions[..found.len()].copy_from_slice(found);
    few.columns.fill(0);
    row.gather(found, &mut few.columns, &mut few.values);
}

/// The same with the parts of a kernel: one that scores a row, and meanwhile asks for columns of another; one that finds what
/// reaches a score; one that gathers what was found; one that picks the best k of it, and returns the smallest of their
/// scores, or none where the next is too close; and one that asks for the columns of the last row.
///
/// Always inlined, so that the parts use the instructions of the caller.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn best_side_by_side<'r>(
    rows: impl Iterator<Item = Row<'r>> + Clone,
    k: usize,
    space: &mut SideBySide,
    score: impl Fn(Row<'r>, &mut [f32], &[u32]) -> f32,
    find: impl Fn(&[f32], f32, &mut [u32]) -> usize,
    gather: impl Fn(Row<'r>, &[u32], &mut Candidates),
    split: impl Fn(&mut Candidates) -> Option<f32>,
    bring: impl Fn(&Candidates),
    mut tell: impl FnMut(Row<'r>, &Candidates, Option<f32>),
) {
    let SideBySide { space, rows: all } = space;
    let mut number = 0;
    for row in rows.clone() {
        if number == all.len() {
            all.push(Candidates::default());
        }
        let (before, few) = all.split_at_mut(number);
        let few = &mut few[0];
        number += 1;
        few.found = usize::MAX;
        if row.len() <= k {
            continue;
        }
        space.reserve(row.len());
        let Space { scores, first, positions, .. } = &mut *space;
        let scores = &mut scores[*first..][..row.len().next_multiple_of(LANES)];
        // All that exact scores could bring to the k-th place, see `best_of_each`.
        let least = score(row, scores, before.last().map_or(&[], |before| before.asked_for())).next_down();
        few.found = find(scores, least, positions);
        if few.found <= AT_ONCE {
            gather(row, positions, few);
        }
    }
    if let Some(last) = all[..number].last() {
        bring(last);
    }
    for (row, few) in rows.zip(all) {
        let least = if few.found <= AT_ONCE { split(few) } else { None };
        tell(row, few, least);
    }
}
