//! A metric bound to a budget: what the search evaluates.

use super::aggregate::{Aggregate, Aggregated};
use super::blocks::map_blocks;
use super::confusion::Tensor;
use super::formula::Node;
use super::view::View;

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
        self.values_between(from, to, &[alpha])[0]
    }

    /// [`Objective::value_between`] for each of `alphas`, with one pass over the tensors for all of them.
    ///
    /// # Panics
    /// If the tensors differ in the number of labels.
    pub fn values_between(&self, from: &Tensor, to: &Tensor, alphas: &[f64]) -> Vec<f64> {
        assert_eq!(from.labels(), to.labels(), "both ends of a segment have the same labels");
        let views: Vec<View> =
            alphas.iter().map(|&alpha| View { from, towards: Some((to, alpha)) }).collect();
        self.aggregated_each(&views).iter().map(|aggregated| self.combine(aggregated)).collect()
    }

    pub(super) fn aggregated(&self, view: View) -> Vec<Aggregated> {
        self.aggregated_each(&[view]).swap_remove(0)
    }

    /// All aggregations of all views. The views are of the same labels, and a block of those is in the cache
    /// of the processor while it is evaluated for every view.
    fn aggregated_each(&self, views: &[View]) -> Vec<Vec<Aggregated>> {
        let Some(labels) = views.first().map(View::labels) else { return Vec::new() };
        let scratch = || self.aggregates.iter().map(Aggregate::columns).collect::<Vec<_>>();
        let blocks = map_blocks(labels, views.len(), scratch, |scratch, block| {
            let mut statistics = Vec::with_capacity(views.len() * self.aggregates.len());
            for view in views {
                for (aggregate, columns) in self.aggregates.iter().zip(scratch.iter_mut()) {
                    statistics.push(aggregate.statistic(*view, block.clone(), columns));
                }
            }
            statistics
        });
        // From the first block to the last, whoever was done first: the order of additions is fixed.
        let merged = blocks.into_iter().reduce(|mut merged, block| {
            merged.iter_mut().zip(block).for_each(|(merged, part)| *merged = merged.merge(part));
            merged
        });
        let finish = |view: usize| {
            let statistic =
                |index: usize| merged.as_ref().map(|all| all[view * self.aggregates.len() + index]);
            let aggregates = self.aggregates.iter().enumerate();
            aggregates.map(|(index, aggregate)| aggregate.finish(statistic(index), labels)).collect()
        };
        (0..views.len()).map(finish).collect()
    }

    pub(super) fn combine(&self, aggregated: &[Aggregated]) -> f64 {
        let values: Vec<f64> = aggregated.iter().map(|aggregate| aggregate.value).collect();
        self.outer.scalar(&values)
    }
}
