//! The gain tensor of Algorithm 1, reduced to what a classifier needs: slopes and intercepts.

use rayon::prelude::*;

use super::blocks::{BLOCK, LANES, PARALLEL_FROM, View, lanes, sum_labels};
use super::confusion::Tensor;
use super::error::MeasureError;
use super::number::{Dual, Number};
use super::objective::Objective;

/// The gradient of a metric at a confusion tensor, as gains of predicting a label.
///
/// With the derivatives `G` for the cells of label j, `slopes[j] = Gtp + Gtn - Gfp - Gfn` and
/// `intercepts[j] = Gfp - Gtn` (Algorithm 1, line 8): the classifier that predicts the k greatest
/// `slope * marginal + intercept` maximises the linear utility `G . C` (Theorem thm:linear_metric).
///
/// A label without a positive has slope 0: its tp and fn cannot change, so no classifier can earn what the
/// derivative promises. With `x / (y + epsilon)` recall would promise `1 / epsilon` there, and such labels
/// would swallow the budget of every row.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// The metric itself, with the bits of [`Objective::value`].
    pub value: f64,
    pub slopes: Vec<f64>,
    pub intercepts: Vec<f64>,
}

impl Gradient {
    /// `G . (to - from)`; with the tensor of the gradient as `from` and that of its classifier as `to` this is
    /// the Frank-Wolfe gap.
    ///
    /// Both tensors are of the same data, so tp and the predicted fraction determine the difference.
    ///
    /// # Panics
    /// If the number of labels differs.
    pub fn directional(&self, from: &Tensor, to: &Tensor) -> f64 {
        assert_eq!(from.labels(), self.slopes.len(), "a gradient of the same labels");
        assert_eq!(to.labels(), self.slopes.len(), "a gradient of the same labels");
        sum_labels(self.slopes.len(), |j| {
            let hits = to.true_positives[j] - from.true_positives[j];
            let alarms = to.false_positives[j] - from.false_positives[j];
            self.slopes[j] * hits + self.intercepts[j] * (hits + alarms)
        })
    }
}

impl Objective {
    /// The gradient at a tensor, by automatic differentiation (Algorithm 1, lines 7 and 8).
    pub fn gradient(&self, tensor: &Tensor) -> Result<Gradient, MeasureError> {
        let view = View { from: tensor, towards: None };
        let aggregated = self.aggregated(view);
        let value = self.combine(&aggregated);
        if !value.is_finite() {
            return Err(MeasureError::Value { metric: self.text.clone(), value });
        }
        let values: Vec<f64> = aggregated.iter().map(|aggregate| aggregate.value).collect();
        let weights: Vec<f64> =
            (0..values.len()).map(|index| self.outer_derivative(&values, index)).collect();

        let fill = |block: usize, slopes: &mut [f64], intercepts: &mut [f64]| {
            let first = block * BLOCK;
            for range in lanes(first..first + slopes.len()) {
                let cells = view.load(range.clone());
                let mut gains = [[0.0; LANES]; 4];
                let parts = self.aggregates.iter().zip(&aggregated).zip(&weights);
                // What the formula does not depend on must not bring in an infinite factor.
                for ((aggregate, outcome), &weight) in parts.filter(|(_, weight)| **weight != 0.0) {
                    aggregate.add_derivatives(outcome.sensitivity, weight, &cells, range.clone(), &mut gains);
                }
                for (lane, label) in range.enumerate() {
                    let [tp, fp, miss, tn] = [gains[0][lane], gains[1][lane], gains[2][lane], gains[3][lane]];
                    let reachable = tensor.positives()[label] != 0.0;
                    slopes[label - first] = if reachable { tp + tn - fp - miss } else { 0.0 };
                    intercepts[label - first] = fp - tn;
                }
            }
        };
        let mut slopes = vec![0.0; tensor.labels()];
        let mut intercepts = vec![0.0; tensor.labels()];
        if tensor.labels() >= PARALLEL_FROM {
            let blocks = slopes.par_chunks_mut(BLOCK).zip(intercepts.par_chunks_mut(BLOCK));
            blocks.enumerate().for_each(|(block, (slopes, intercepts))| fill(block, slopes, intercepts));
        } else {
            let blocks = slopes.chunks_mut(BLOCK).zip(intercepts.chunks_mut(BLOCK));
            blocks.enumerate().for_each(|(block, (slopes, intercepts))| fill(block, slopes, intercepts));
        }
        self.checked(tensor, Gradient { value, slopes, intercepts })
    }

    /// The derivative of the outer formula with respect to one aggregation.
    fn outer_derivative(&self, values: &[f64], index: usize) -> f64 {
        let mut leaves: Vec<Dual<1>> = values.iter().map(|&value| Dual::from_f64(value)).collect();
        leaves[index] = Dual::variable(values[index], 0);
        self.outer.scalar(&leaves).partials[0]
    }

    fn checked(&self, tensor: &Tensor, gradient: Gradient) -> Result<Gradient, MeasureError> {
        let gains = gradient.slopes.iter().zip(&gradient.intercepts);
        match gains.into_iter().position(|(slope, intercept)| !(slope.is_finite() && intercept.is_finite())) {
            None => Ok(gradient),
            Some(label) => Err(MeasureError::Gradient {
                metric: self.text.clone(),
                label,
                cells: tensor.cells(label),
                slope: gradient.slopes[label],
                intercept: gradient.intercepts[label],
            }),
        }
    }
}
