//! The gain tensor of Algorithm 1, reduced to the slopes and intercepts of a rule.

use rayon::prelude::*;

use super::aggregate::Aggregate;
use super::confusion::ConfusionTensor;
use super::error::MeasureError;
use super::formula::{DualRegister, Node};
use super::label_blocks::{BLOCK_LABELS, LANES, MIN_TASK_BLOCKS, PARALLEL_FROM, lane_ranges, sum_blocks};
use super::number::{Dual, Number};
use super::objective::Objective;
use super::tensor_view::TensorView;
use crate::simd::with_simd;

/// The gradient of a metric at a confusion tensor, as gains of predicting a label.
///
/// With the derivatives `G` for the cells of label j, `slopes[j] = Gtp + Gtn - Gfp - Gfn` and
/// `intercepts[j] = Gfp - Gtn` (Algorithm 1, line 8): the classifier that predicts the k greatest
/// `slope * marginal + intercept` maximises the linear utility `G . C` (Theorem 4.1).
///
/// A label without positives has slope 0, because its tp and fn cannot change. With `x / (y + epsilon)`, the derivative
/// of recall would be `1 / epsilon` there, and such labels would use up the budget of every row.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// The metric, with the bits of [`Objective::value`].
    pub value: f64,
    pub slopes: Vec<f64>,
    pub intercepts: Vec<f64>,
    /// The largest magnitude of slopes and intercepts.
    pub largest: f64,
}

/// The largest magnitude of some numbers. Infinities and NaN are larger than all others.
pub(crate) fn max_abs(numbers: &[f64]) -> f64 {
    // The bits of non-negative numbers have the order of the numbers, and the maximum of integers is vectorised.
    f64::from_bits(numbers.iter().map(|number| number.abs().to_bits()).fold(0, u64::max))
}

/// The larger of two magnitudes, ordered as in [`max_abs`].
pub(crate) fn larger_magnitude(one: f64, other: f64) -> f64 {
    f64::from_bits(one.to_bits().max(other.to_bits()))
}

impl Gradient {
    /// `G . (to - from)`, for tensors of the same data. If `from` is the tensor of the gradient and `to` that of its
    /// classifier, this is the Frank-Wolfe gap.
    ///
    /// # Panics
    /// If the number of labels differs.
    pub fn directional_derivative(&self, from: &ConfusionTensor, to: &ConfusionTensor) -> f64 {
        assert_eq!(from.labels(), self.slopes.len(), "a gradient of the same labels");
        assert_eq!(to.labels(), self.slopes.len(), "a gradient of the same labels");
        sum_blocks(self.slopes.len(), |range| {
            // Zipped slices need no check of each index.
            let gains = self.slopes[range.clone()].iter().zip(&self.intercepts[range.clone()]);
            let hits = to.true_positives[range.clone()].iter().zip(&from.true_positives[range.clone()]);
            let alarms = to.false_positives[range.clone()].iter().zip(&from.false_positives[range]);
            let differences = hits
                .zip(alarms)
                .map(|((to_hits, hits), (to_alarms, alarms))| (to_hits - hits, to_alarms - alarms));
            let terms = gains
                .zip(differences)
                .map(|((slope, intercept), (hits, alarms))| slope * hits + intercept * (hits + alarms));
            terms.sum()
        })
    }
}

type Scratch = Vec<Vec<DualRegister<LANES>>>;

impl Objective {
    /// The gradient at a tensor, by automatic differentiation (Algorithm 1, lines 7 and 8).
    pub fn gradient(&self, tensor: &ConfusionTensor) -> Result<Gradient, MeasureError> {
        self.gradient_reusing(tensor, None, None)
    }

    /// [`Objective::gradient`] in the memory of a `spare` gradient: allocating costs nearly as much as computing. The `known` bits
    /// of the value at the tensor save its evaluation if the metric is a single mean or sum over labels.
    pub fn gradient_reusing(
        &self,
        tensor: &ConfusionTensor,
        known: Option<f64>,
        spare: Option<Gradient>,
    ) -> Result<Gradient, MeasureError> {
        let view = TensorView::at(tensor);
        let alone = match (&self.aggregates[..], &self.outer, known) {
            ([only], Node::Leaf(0), Some(value)) => only.invert(value, tensor.labels() + self.omitted_labels),
            _ => None,
        };
        let aggregated = alone.map_or_else(|| self.aggregate(view), |alone| vec![alone]);
        let value = self.apply_outer(&aggregated);
        if !value.is_finite() {
            return Err(MeasureError::Value { metric: self.text.clone(), value });
        }
        let values: Vec<f64> = aggregated.iter().map(|aggregate| aggregate.value).collect();
        let weights: Vec<f64> =
            (0..values.len()).map(|index| self.outer_derivative(&values, index)).collect();

        let parts: Vec<_> = self.aggregates.iter().zip(&aggregated).zip(weights).collect();
        let scratch = || -> Scratch { self.aggregates.iter().map(Aggregate::dual_registers).collect() };
        let fill = |scratch: &mut Scratch,
                    (block, (slopes, intercepts)): (usize, (&mut [f64], &mut [f64]))| {
            let first = block * BLOCK_LABELS;
            with_simd(
                self.arch,
                #[inline(always)]
                || {
                    for range in lane_ranges(first..first + slopes.len()) {
                        let mut gains = [[0.0; LANES]; 4];
                        for (((aggregate, outcome), weight), registers) in
                            parts.iter().zip(scratch.iter_mut())
                        {
                            // An aggregation without influence must not add a NaN, 0 times infinity.
                            if *weight != 0.0 {
                                let how = (outcome.sensitivity, *weight);
                                aggregate.add_derivatives(how, view, range.clone(), registers, &mut gains);
                            }
                        }
                        let here = range.start - first..range.end - first;
                        let positives = &tensor.positives()[range];
                        to_coefficients(&gains, positives, &mut slopes[here.clone()], &mut intercepts[here]);
                    }
                },
            );
            larger_magnitude(max_abs(slopes), max_abs(intercepts))
        };
        let fitting = spare.filter(|spare| spare.slopes.len() == tensor.labels());
        let (mut slopes, mut intercepts) = match fitting {
            Some(Gradient { slopes, intercepts, .. }) => (slopes, intercepts),
            None => (vec![0.0; tensor.labels()], vec![0.0; tensor.labels()]),
        };
        let largest = if tensor.labels() >= PARALLEL_FROM {
            let blocks = slopes.par_chunks_mut(BLOCK_LABELS).zip(intercepts.par_chunks_mut(BLOCK_LABELS));
            blocks
                .enumerate()
                .with_min_len(MIN_TASK_BLOCKS)
                .map_init(scratch, fill)
                .reduce(|| 0.0, larger_magnitude)
        } else {
            let blocks = slopes.chunks_mut(BLOCK_LABELS).zip(intercepts.chunks_mut(BLOCK_LABELS));
            let mut scratch = scratch();
            blocks
                .enumerate()
                .fold(0.0, |largest, block| larger_magnitude(largest, fill(&mut scratch, block)))
        };
        let gradient = Gradient { value, slopes, intercepts, largest };
        if largest.is_finite() { Ok(gradient) } else { Err(self.non_finite_gradient(tensor, &gradient)) }
    }

    /// The derivative of the outer formula with respect to one aggregation.
    fn outer_derivative(&self, values: &[f64], index: usize) -> f64 {
        let mut leaves: Vec<Dual<1>> = values.iter().map(|&value| Dual::from_f64(value)).collect();
        leaves[index] = Dual::variable(values[index], 0);
        self.outer.evaluate(&leaves).partials[0]
    }

    /// The error for the first label whose gains are not finite.
    fn non_finite_gradient(&self, tensor: &ConfusionTensor, gradient: &Gradient) -> MeasureError {
        let mut gains = gradient.slopes.iter().zip(&gradient.intercepts);
        let unusable = |(slope, intercept): (&f64, &f64)| !(slope.is_finite() && intercept.is_finite());
        let label = gains.position(unusable).unwrap_or(0);
        MeasureError::Gradient {
            metric: self.text.clone(),
            label,
            cells: tensor.cells(label),
            slope: gradient.slopes[label],
            intercept: gradient.intercepts[label],
        }
    }
}

/// Slopes and intercepts from the derivatives with respect to the cells.
#[inline(always)]
fn to_coefficients(gains: &[[f64; LANES]; 4], positives: &[f64], slopes: &mut [f64], intercepts: &mut [f64]) {
    let [tp, fp, miss, tn] = gains;
    for (lane, &positives) in positives.iter().enumerate() {
        let slope = tp[lane] + tn[lane] - fp[lane] - miss[lane];
        slopes[lane] = if positives != 0.0 { slope } else { 0.0 };
        intercepts[lane] = fp[lane] - tn[lane];
    }
}
