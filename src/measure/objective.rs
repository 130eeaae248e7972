//! A metric bound to a budget: what the search evaluates.

use super::aggregate::{Aggregate, Aggregated};
use super::blocks::View;
use super::confusion::Tensor;
use super::formula::Node;

/// A metric with its budget `k` and `epsilon` fixed.
///
/// Every result has the same bits for any number of threads.
#[derive(Clone, Debug)]
pub struct Objective {
    pub(super) text: String,
    pub(super) budget: usize,
    pub(super) aggregates: Vec<Aggregate>,
    pub(super) outer: Node,
}

impl Objective {
    /// The metric of a confusion tensor; NaN if there are no labels or the formula has no value there.
    pub fn value(&self, tensor: &Tensor) -> f64 {
        self.combine(&self.aggregated(View { from: tensor, towards: None }))
    }

    /// The metric of `(1 - alpha) * from + alpha * to` (Algorithm 1, line 11), without making that tensor.
    ///
    /// It has the bits that [`Objective::value`] gives after [`Tensor::mix`].
    ///
    /// # Panics
    /// If the tensors differ in the number of labels.
    pub fn value_between(&self, from: &Tensor, to: &Tensor, alpha: f64) -> f64 {
        assert_eq!(from.labels(), to.labels(), "both ends of a segment have the same labels");
        self.combine(&self.aggregated(View { from, towards: Some((to, alpha)) }))
    }

    pub(super) fn aggregated(&self, view: View) -> Vec<Aggregated> {
        self.aggregates.iter().map(|aggregate| aggregate.evaluate(view)).collect()
    }

    pub(super) fn combine(&self, aggregated: &[Aggregated]) -> f64 {
        let values: Vec<f64> = aggregated.iter().map(|aggregate| aggregate.value).collect();
        self.outer.scalar(&values)
    }
}
