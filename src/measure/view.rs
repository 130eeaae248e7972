//! The cells of many labels at once, from a tensor or from one on the way between two.

use std::ops::Range;

use super::blocks::LANES;
use super::confusion::{Tensor, blend, false_negatives, true_negatives};
use super::formula::each;

/// A tensor, or one on the way between two.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub positives: &'a [f64],
    pub from: End<'a>,
    /// The other end and how far it is gone.
    pub towards: Option<(End<'a>, f64)>,
}

/// The cells that are stored, of one end.
#[derive(Clone, Copy)]
pub(super) struct End<'a> {
    pub hits: &'a [f64],
    pub alarms: &'a [f64],
}

impl<'a> From<&'a Tensor> for End<'a> {
    fn from(tensor: &'a Tensor) -> End<'a> {
        End { hits: &tensor.true_positives, alarms: &tensor.false_positives }
    }
}

impl<'a> View<'a> {
    pub(super) fn at(tensor: &'a Tensor) -> View<'a> {
        View { positives: tensor.positives(), from: tensor.into(), towards: None }
    }

    pub(super) fn between(from: &'a Tensor, to: &'a Tensor, alpha: f64) -> View<'a> {
        View { towards: Some((to.into(), alpha)), ..View::at(from) }
    }

    pub(super) fn labels(&self) -> usize {
        self.positives.len()
    }

    /// Writes the cells of at most [`LANES`] labels, by cell and lane; what is beyond the range has no meaning.
    /// The last column is left as it is if no true negatives are `wanted`.
    #[inline(always)]
    pub(super) fn load(&self, range: Range<usize>, wanted: Wanted, columns: [&mut [f64; LANES]; 4]) {
        let [hits, alarms, misses, rest] = columns;
        self.stored(|end| end.hits, range.clone(), hits);
        self.stored(|end| end.alarms, range.clone(), alarms);
        whole(&self.positives[range], |positives| each(positives, hits, misses, false_negatives));
        if wanted == Wanted::All {
            for lane in 0..LANES {
                rest[lane] = true_negatives(hits[lane], alarms[lane], misses[lane]);
            }
        }
    }

    /// One of the cells that are stored.
    #[inline(always)]
    fn stored(&self, cell: impl Fn(End<'a>) -> &'a [f64], range: Range<usize>, out: &mut [f64; LANES]) {
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
    let mut filled: [f64; LANES];
    let numbers = match numbers.try_into() {
        Ok(numbers) => numbers,
        Err(_) => {
            filled = [0.0; LANES];
            filled[..numbers.len()].copy_from_slice(numbers);
            &filled
        }
    };
    // Called in one place, so that the loop in it is compiled once.
    job(numbers);
}
