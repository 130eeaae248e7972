//! A metric bound to a budget, as a search evaluates it.

use pulp::Arch;

use super::active_labels::{ActiveLabels, SegmentBuffers};
use super::aggregate::{Aggregate, AggregateValue, Statistic};
use super::confusion::ConfusionTensor;
use super::formula::Node;
use super::label_blocks::{BLOCK_LABELS, GROUP_LABELS, map_groups};
use super::segment::Segment;
use super::tensor_view::TensorView;
use crate::simd::with_simd;

/// A metric with its budget `k` and `epsilon` fixed.
///
/// Every result has the same bits for any number of threads.
#[derive(Clone, Debug)]
pub struct Objective {
    pub(super) text: String,
    pub(super) budget: usize,
    pub(super) aggregates: Vec<Aggregate>,
    pub(super) outer: Node,
    /// Labels that tensors leave out; see [`Objective::omitting_labels`].
    pub(super) omitted_labels: usize,
    /// The instructions for loops over labels. No result depends on them.
    pub(super) arch: Arch,
}

impl Objective {
    /// Whether labels without positives add exactly 0, whatever is predicted, and have gradient 0.
    pub fn ignores_labels_without_positives(&self) -> bool {
        self.aggregates.iter().all(|aggregate| aggregate.ignores_labels_without_positives)
    }

    /// Returns the metric for tensors that omit this number of labels without positives. Means are still over all labels.
    ///
    /// # Panics
    /// Unless [`Objective::ignores_labels_without_positives`] or the number is 0.
    pub fn omitting_labels(self, labels: usize) -> Objective {
        assert!(
            labels == 0 || self.ignores_labels_without_positives(),
            "omitted labels must not change the metric"
        );
        Objective { omitted_labels: labels, ..self }
    }

    /// The metric of a confusion tensor, or NaN if it has no labels or the formula has no value there.
    pub fn value(&self, tensor: &ConfusionTensor) -> f64 {
        self.apply_outer(&self.aggregate(TensorView::at(tensor)))
    }

    /// The metric of `(1 - alpha) * from + alpha * to` (Algorithm 1, line 11), with the bits of [`Objective::value`] after
    /// [`ConfusionTensor::mix`].
    ///
    /// # Panics
    /// If the tensors differ in the number of labels.
    pub fn value_between(&self, from: &ConfusionTensor, to: &ConfusionTensor, alpha: f64) -> f64 {
        Segment::new(self, from, to).values(&[alpha])[0]
    }

    /// The metric between two tensors, prepared for many evaluations.
    ///
    /// # Panics
    /// If the tensors differ in the number of labels.
    pub fn segment<'a>(
        &'a self,
        from: &'a ConfusionTensor,
        to: &'a ConfusionTensor,
        space: &'a mut SegmentBuffers,
    ) -> Segment<'a> {
        Segment::new(self, from, to).prepared(space)
    }

    pub(super) fn aggregate(&self, view: TensorView) -> Vec<AggregateValue> {
        self.aggregate_views(&[view], None).swap_remove(0)
    }

    /// All aggregations of all views, which have the same labels. A group of labels is in the cache while it is evaluated for
    /// every view. If the `active` labels of each group are known, others that are 0 are skipped.
    pub(super) fn aggregate_views(
        &self,
        views: &[TensorView],
        active: Option<&[ActiveLabels]>,
    ) -> Vec<Vec<AggregateValue>> {
        let Some(labels) = views.first().map(TensorView::labels) else { return Vec::new() };
        let each_block = views.len() * self.aggregates.len();
        let scratch = || self.aggregates.iter().map(Aggregate::registers).collect::<Vec<_>>();
        let groups = map_groups(labels, views.len(), scratch, |scratch, group| {
            let mut statistics = vec![Statistic::Total(0.0); group.len().div_ceil(BLOCK_LABELS) * each_block];
            let active = active.map(|active| &active[group.start / GROUP_LABELS]);
            with_simd(
                self.arch,
                #[inline(always)]
                || {
                    for (number, view) in views.iter().enumerate() {
                        let parts = self.aggregates.iter().zip(scratch.iter_mut());
                        for (first, (aggregate, registers)) in (number * self.aggregates.len()..).zip(parts) {
                            let out = statistics.iter_mut().skip(first).step_by(each_block);
                            aggregate.statistics(*view, active, group.clone(), registers, out);
                        }
                    }
                },
            );
            statistics
        });
        // Blocks are merged in order, so that the order of additions does not depend on threads.
        let mut blocks = groups.iter().flat_map(|group| group.chunks_exact(each_block));
        let merged = blocks.next().map(|first| {
            blocks.fold(first.to_vec(), |mut merged, block| {
                merged.iter_mut().zip(block).for_each(|(merged, &part)| *merged = merged.merge(part));
                merged
            })
        });
        let finish = |view: usize| {
            let statistic =
                |index: usize| merged.as_ref().map(|all| all[view * self.aggregates.len() + index]);
            let aggregates = self.aggregates.iter().enumerate();
            aggregates
                .map(|(index, aggregate)| aggregate.finish(statistic(index), labels + self.omitted_labels))
                .collect()
        };
        (0..views.len()).map(finish).collect()
    }

    pub(super) fn apply_outer(&self, aggregated: &[AggregateValue]) -> f64 {
        let values: Vec<f64> = aggregated.iter().map(|aggregate| aggregate.value).collect();
        self.outer.evaluate(&values)
    }
}
