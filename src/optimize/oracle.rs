//! Confusion tensors of rules over all ranks.

use std::sync::Arc;

use super::frank_wolfe::IterationOutcome;
use super::packed_counts::PackedCounts;
use super::phase_seconds::{PhaseSeconds, timed};
use crate::classifier::{Candidates, CountingPass, Mixture, Rule};
use crate::measure::{ConfusionCounts, ConfusionTensor, Population};
use crate::shard::Shard;
use crate::world::World;

/// Counts the predictions of rules over all ranks. Rules, counts and the population are by column; see
/// [`ColumnSpace`](super::column_space::ColumnSpace).
pub(super) struct Oracle<'a> {
    world: &'a World,
    population: Arc<Population>,
    /// The positives of `population`, for the tensors to share.
    positives: Arc<[f64]>,
    pass: CountingPass<'a>,
    counts: ConfusionCounts,
    /// A discarded tensor. The next one takes its memory.
    spare: Option<ConfusionTensor>,
    pub seconds: PhaseSeconds,
}

impl<'a> Oracle<'a> {
    pub fn new(
        world: &'a World,
        shard: &'a Shard,
        population: Arc<Population>,
        k: usize,
        candidates: Candidates,
    ) -> Self {
        let positives = population.fractions();
        let columns = population.positives.len();
        let pass = CountingPass::new(shard, k, candidates, columns);
        let counts = ConfusionCounts::new(columns);
        let seconds = PhaseSeconds::default();
        Oracle { world, population, positives, pass, counts, spare: None, seconds }
    }

    /// Returns the confusion tensor of a rule (Algorithm 1, line 10).
    pub fn rule_tensor(&mut self, rule: &Rule) -> ConfusionTensor {
        let Oracle { world, population, pass, counts, .. } = self;
        timed(&mut self.seconds.oracle, || pass.count(rule, counts));
        let spare = self.spare.take();
        timed(&mut self.seconds.reduce, || {
            let rows = population.rows;
            world.sum(&mut counts.true_positives, rows.saturating_mul(population.unit));
            world.sum(&mut counts.predicted, rows);
            match spare {
                Some(mut spare) => {
                    spare.set_counts(counts, population);
                    spare
                }
                None => ConfusionTensor::with_positives(counts, population, Arc::clone(&self.positives)),
            }
        })
    }

    /// Takes back a tensor of [`Oracle::rule_tensor`].
    pub fn reuse(&mut self, tensor: ConfusionTensor) {
        self.spare = Some(tensor);
    }

    /// Sends rank 0's rule to every rank.
    pub fn broadcast_rule(&mut self, rule: Option<Rule>) -> Rule {
        let mut rule = rule.unwrap_or_else(|| Rule { slopes: Vec::new(), intercepts: Vec::new() });
        timed(&mut self.seconds.reduce, || {
            self.world.broadcast(&mut rule.slopes);
            self.world.broadcast(&mut rule.intercepts);
        });
        rule
    }

    /// Returns the counts of the last rule of [`Oracle::rule_tensor`].
    pub fn pack_counts(&mut self) -> Arc<PackedCounts> {
        let counts = &self.counts;
        timed(&mut self.seconds.checkpoint, || Arc::new(PackedCounts::new(counts)))
    }

    /// Returns the tensor of a mixture. `after_each` is called after each of its rules.
    pub fn mixture_tensor(
        &mut self,
        mixture: &Mixture,
        mut after_each: impl FnMut(&mut Self),
    ) -> ConfusionTensor {
        let mut tensor = |rule: &Arc<Rule>| {
            let tensor = self.rule_tensor(rule);
            after_each(self);
            tensor
        };
        let parts: Vec<ConfusionTensor> = mixture.rules.iter().map(&mut tensor).collect();
        weighted_tensor(&mixture.weights, parts)
    }

    /// Sends rank 0's outcome to every rank.
    pub fn broadcast_outcome(&mut self, outcome: Option<IterationOutcome>) -> IterationOutcome {
        timed(&mut self.seconds.reduce, || self.world.broadcast_json(outcome))
    }
}

/// Returns the tensor of a mixture of rules with these tensors.
pub(super) fn weighted_tensor(weights: &[f64], mut parts: Vec<ConfusionTensor>) -> ConfusionTensor {
    if weights == [1.0] && parts.len() == 1 {
        return parts.swap_remove(0);
    }
    let weighted: Vec<(f64, &ConfusionTensor)> = weights.iter().copied().zip(&parts).collect();
    ConfusionTensor::scaled_sum(&weighted)
}
