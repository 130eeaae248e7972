//! The way from one confusion tensor to another, along which a step is searched.

use rayon::prelude::*;

use super::aggregate::Aggregate;
use super::blocks::{GROUP, GROUP_BLOCKS, TASK};
use super::confusion::Tensor;
use super::found::{Found, SegmentSpace};
use super::objective::Objective;
use super::view::View;

/// A metric along `(1 - alpha) * from + alpha * to` (Algorithm 1, line 11).
pub struct Segment<'a> {
    objective: &'a Objective,
    from: &'a Tensor,
    to: &'a Tensor,
    /// The labels that matter, by group.
    found: Option<&'a [Found]>,
}

impl<'a> Segment<'a> {
    /// A segment to be asked once.
    ///
    /// # Panics
    /// If the tensors differ in the number of labels.
    pub(super) fn new(objective: &'a Objective, from: &'a Tensor, to: &'a Tensor) -> Segment<'a> {
        assert_eq!(from.labels(), to.labels(), "both ends of a segment have the same labels");
        Segment { objective, from, to, found: None }
    }

    /// The same segment, to be asked many times.
    pub(super) fn prepared(self, space: &'a mut SegmentSpace) -> Segment<'a> {
        if !self.objective.aggregates.iter().any(Aggregate::is_zero_unless_found) {
            return self;
        }
        space.0.resize_with(self.from.labels().div_ceil(GROUP), Found::default);
        let groups = space.0.par_iter_mut().with_min_len(TASK / GROUP_BLOCKS).enumerate();
        groups.for_each_init(Vec::new, |labels, (group, found)| {
            found.refill(self.from, self.to, group * GROUP, labels);
        });
        Segment { found: Some(&space.0), ..self }
    }

    /// The metric at each of `alphas`, with one pass over the labels for all of them.
    ///
    /// It has the bits that [`Objective::value`] gives after [`Tensor::mix`].
    pub fn values(&self, alphas: &[f64]) -> Vec<f64> {
        let views: Vec<View> = alphas.iter().map(|&alpha| View::between(self.from, self.to, alpha)).collect();
        // Beyond the ends cells are no fractions any more.
        let inside = alphas.iter().all(|alpha| (0.0..=1.0).contains(alpha));
        let found = self.found.filter(|_| inside);
        let aggregated = self.objective.aggregated_each(&views, found);
        aggregated.iter().map(|aggregated| self.objective.combine(aggregated)).collect()
    }
}
