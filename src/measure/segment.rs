//! The segment between two confusion tensors, along which a step size is searched.

use rayon::prelude::*;

use super::active_labels::{ActiveLabels, SegmentBuffers};
use super::confusion::ConfusionTensor;
use super::label_blocks::{GROUP_BLOCKS, GROUP_LABELS, MIN_TASK_BLOCKS};
use super::objective::Objective;
use super::tensor_view::TensorView;

/// A metric along `(1 - alpha) * from + alpha * to` (Algorithm 1, line 11).
pub struct Segment<'a> {
    objective: &'a Objective,
    from: &'a ConfusionTensor,
    to: &'a ConfusionTensor,
    /// The active labels of each group.
    active: Option<&'a [ActiveLabels]>,
}

impl<'a> Segment<'a> {
    /// A segment for a single evaluation.
    ///
    /// # Panics
    /// If the tensors differ in the number of labels.
    pub(super) fn new(
        objective: &'a Objective,
        from: &'a ConfusionTensor,
        to: &'a ConfusionTensor,
    ) -> Segment<'a> {
        assert_eq!(from.labels(), to.labels(), "both ends of a segment have the same labels");
        Segment { objective, from, to, active: None }
    }

    /// Prepares the segment for many evaluations.
    pub(super) fn prepared(self, space: &'a mut SegmentBuffers) -> Segment<'a> {
        if !self.objective.aggregates.iter().any(|aggregate| aggregate.zero_without_true_positives) {
            return self;
        }
        space.0.resize_with(self.from.labels().div_ceil(GROUP_LABELS), ActiveLabels::default);
        let groups = space.0.par_iter_mut().with_min_len(MIN_TASK_BLOCKS / GROUP_BLOCKS).enumerate();
        groups.for_each_init(Vec::new, |labels, (group, active)| {
            active.refill(self.from, self.to, group * GROUP_LABELS, labels);
        });
        Segment { active: Some(&space.0), ..self }
    }

    /// The metric at each of `alphas`, from a single pass over the labels, with the bits of [`Objective::value`] after
    /// [`ConfusionTensor::mix`].
    pub fn values(&self, alphas: &[f64]) -> Vec<f64> {
        let views: Vec<TensorView> =
            alphas.iter().map(|&alpha| TensorView::between(self.from, self.to, alpha)).collect();
        // Beyond the ends, cells may not be fractions.
        let inside = alphas.iter().all(|alpha| (0.0..=1.0).contains(alpha));
        let active = self.active.filter(|_| inside);
        let aggregated = self.objective.aggregate_views(&views, active);
        aggregated.iter().map(|aggregated| self.objective.apply_outer(aggregated)).collect()
    }
}
