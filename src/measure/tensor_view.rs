//! The cells of many labels side by side, from a tensor or a mix of two.

use std::ops::Range;

use super::confusion::{ConfusionTensor, blend, false_negatives, true_negatives};
use super::formula::map_lanes;
use super::label_blocks::LANES;

/// A tensor, or a mix of two.
#[derive(Clone, Copy)]
pub(super) struct TensorView<'a> {
    pub positives: &'a [f64],
    pub from: CellSlices<'a>,
    /// The other tensor and its weight.
    pub towards: Option<(CellSlices<'a>, f64)>,
}

/// The stored cells of a tensor.
#[derive(Clone, Copy)]
pub(super) struct CellSlices<'a> {
    pub hits: &'a [f64],
    pub alarms: &'a [f64],
}

impl<'a> From<&'a ConfusionTensor> for CellSlices<'a> {
    fn from(tensor: &'a ConfusionTensor) -> CellSlices<'a> {
        CellSlices { hits: &tensor.true_positives, alarms: &tensor.false_positives }
    }
}

impl<'a> TensorView<'a> {
    pub(super) fn at(tensor: &'a ConfusionTensor) -> TensorView<'a> {
        TensorView { positives: tensor.positives(), from: tensor.into(), towards: None }
    }

    pub(super) fn between(from: &'a ConfusionTensor, to: &'a ConfusionTensor, alpha: f64) -> TensorView<'a> {
        TensorView { towards: Some((to.into(), alpha)), ..TensorView::at(from) }
    }

    pub(super) fn labels(&self) -> usize {
        self.positives.len()
    }

    /// Writes the `wanted` cells of at most [`LANES`] labels, by cell and lane. Lanes beyond the range are arbitrary.
    #[inline(always)]
    pub(super) fn load(&self, range: Range<usize>, wanted: CellsToLoad, columns: [&mut [f64; LANES]; 4]) {
        let [hits, alarms, misses, rest] = columns;
        self.load_cell(|end| end.hits, range.clone(), hits);
        self.load_cell(|end| end.alarms, range.clone(), alarms);
        with_padded(&self.positives[range], |positives| map_lanes(positives, hits, misses, false_negatives));
        if wanted == CellsToLoad::All {
            for lane in 0..LANES {
                rest[lane] = true_negatives(hits[lane], alarms[lane], misses[lane]);
            }
        }
    }

    #[inline(always)]
    fn load_cell(
        &self,
        cell: impl Fn(CellSlices<'a>) -> &'a [f64],
        range: Range<usize>,
        out: &mut [f64; LANES],
    ) {
        with_padded(&cell(self.from)[range.clone()], |from| match self.towards {
            None => *out = *from,
            Some((to, alpha)) => {
                with_padded(&cell(to)[range], |to| {
                    map_lanes(from, to, out, |from, to| blend(from, to, alpha))
                });
            }
        });
    }
}

/// Which cells to load. Most formulas do not use true negatives, which cost most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CellsToLoad {
    All,
    NoTrueNegatives,
}

/// Calls `job` with a column of [`LANES`] numbers, the last one padded, because loops of a known length are fast.
#[inline(always)]
fn with_padded(numbers: &[f64], job: impl FnOnce(&[f64; LANES])) {
    let mut filled: [f64; LANES];
    let numbers = match numbers.try_into() {
        Ok(numbers) => numbers,
        Err(_) => {
            filled = [0.0; LANES];
            filled[..numbers.len()].copy_from_slice(numbers);
            &filled
        }
    };
    // Called in one place, so that its loop is compiled once.
    job(numbers);
}
