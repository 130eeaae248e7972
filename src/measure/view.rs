//! The cells of many labels at once, from a tensor or from one on the way between two.

use std::ops::Range;

use super::blocks::LANES;
use super::confusion::{Tensor, blend, false_negatives, true_negatives};
use super::formula::each;

/// A tensor, or one on the way between two.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub from: &'a Tensor,
    /// The other end and how far it is gone.
    pub towards: Option<(&'a Tensor, f64)>,
}

impl View<'_> {
    pub(super) fn labels(&self) -> usize {
        self.from.labels()
    }

    /// Writes the cells of at most [`LANES`] labels, by cell and lane; what is beyond the range has no meaning.
    /// The last column is left as it is if no true negatives are `wanted`.
    pub(super) fn load(&self, range: Range<usize>, wanted: Wanted, columns: [&mut [f64; LANES]; 4]) {
        let [hits, alarms, misses, rest] = columns;
        self.stored(|tensor| &tensor.true_positives, range.clone(), hits);
        self.stored(|tensor| &tensor.false_positives, range.clone(), alarms);
        whole(&self.from.positives()[range], |positives| each(positives, hits, misses, false_negatives));
        if wanted == Wanted::All {
            for lane in 0..LANES {
                rest[lane] = true_negatives(hits[lane], alarms[lane], misses[lane]);
            }
        }
    }

    /// One of the cells that tensors store.
    fn stored(&self, cell: fn(&Tensor) -> &[f64], range: Range<usize>, out: &mut [f64; LANES]) {
        whole(&cell(self.from)[range.clone()], |from| match self.towards {
            None => *out = *from,
            Some((to, alpha)) => {
                whole(&cell(to)[range], |to| each(from, to, out, |from, to| blend(from, to, alpha)));
            }
        });
    }
}

/// Which cells are loaded: most formulas do without the one that costs most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wanted {
    All,
    NoTrueNegatives,
}

/// Calls `job` with a column of the known length that fast loops have; the last labels are filled up.
#[inline(always)]
fn whole(numbers: &[f64], job: impl FnOnce(&[f64; LANES])) {
    match numbers.try_into() {
        Ok(whole) => job(whole),
        Err(_) => {
            let mut filled = [0.0; LANES];
            filled[..numbers.len()].copy_from_slice(numbers);
            job(&filled);
        }
    }
}
