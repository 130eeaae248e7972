//! The best entries of one row after the other, where single precision can tell which they are.
//!
//! For most rows that is all there is to do, so it is done without a branch that depends on the entries: processors
//! guess those wrong, and a wrong guess takes as long as scoring a dozen entries.

use super::{AT_ONCE, BOUNDED, Kernel, LANES, Scores, Space, Table, reached, scalar};
use crate::shard::{PADDING, Row};

/// What is known of a row once it is scored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// It has no more than k entries, and they were not scored.
    All,
    /// [`Space::best`] has the best k entries, none of which has a single score below this.
    Best(f32),
    /// [`Space::positions`] has all entries that could be among the best k. None has a single score below this.
    Superset(f32),
}

impl Table {
    /// Whether [`Kernel::best_of_each`] can be asked for the best k.
    #[inline]
    pub fn tells_best(&self, k: usize) -> bool {
        self.scores() == Scores::Single && self.has_own_codes() && k <= BOUNDED
    }
}

impl Kernel {
    /// Scores rows and tells `tell` of each what was found, with the space that has its scores and positions. What `tell`
    /// leaves there may be anything that was found earlier.
    ///
    /// # Panics
    /// Unless [`Table::tells_best`].
    #[inline]
    pub fn best_of_each<'r>(
        self,
        table: &Table,
        rows: impl Iterator<Item = Row<'r>>,
        k: usize,
        space: &mut Space,
        tell: impl FnMut(Row<'r>, &mut Space, Found),
    ) {
        assert!(table.tells_best(k), "single scores of columns with codes of their own, few wanted");
        match self {
            Kernel::Scalar => best_of_each(
                rows,
                k,
                space,
                |row, scores| scalar::score(table, row, k, scores),
                scalar::find,
                |scores, positions, found, best| scalar::split(scores, &positions[..found], k, best),
                tell,
            ),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.best_of_each(table, rows, k, space, tell),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.best_of_each(table, rows, k, space, tell),
        }
    }
}

/// The same with the parts of a kernel: one that scores a row, one that finds what reaches a score, and one that picks the
/// best k of the first positions: it returns the smallest of their scores, or none where the next is too close.
///
/// Always inlined, so that the parts use the instructions of the caller.
#[inline(always)]
pub(super) fn best_of_each<'r>(
    rows: impl Iterator<Item = Row<'r>>,
    k: usize,
    space: &mut Space,
    score: impl Fn(Row<'r>, &mut [f32]) -> f32,
    find: impl Fn(&[f32], f32, &mut [u32]) -> usize,
    split: impl Fn(&[f32], &[u32], usize, &mut [u32; BOUNDED]) -> Option<f32>,
    mut tell: impl FnMut(Row<'r>, &mut Space, Found),
) {
    for row in rows {
        if row.len() <= k {
            tell(row, space, Found::All);
            continue;
        }
        space.reserve(row.len());
        let Space { scores, first, positions, found, best } = space;
        let all = &mut scores[*first..];
        let scores = &mut all[..row.len().next_multiple_of(LANES)];
        let least = reached(score(row, scores));
        *found = find(scores, least, positions);
        let split = if *found <= AT_ONCE { split(all, positions, *found, best) } else { None };
        let found = match split {
            Some(least) => Found::Best(least),
            None => {
                space.forget_padding(row.len());
                Found::Superset(least)
            }
        };
        tell(row, space, found);
    }
}

const _: () = assert!(LANES == PADDING, "scores are padded like rows");
const _: () = assert!(AT_ONCE <= 2 * PADDING, "there are as many positions even for the shortest row");
