//! Rules and their confusion tensors over all ranks.

use std::sync::Arc;

use super::frank_wolfe::{EndReason, IterationOutcome};
use super::packed_counts::PackedCounts;
use super::phase_seconds::{PhaseSeconds, timed};
use crate::classifier::{Candidates, CountingPass, Mixture, Rule};
use crate::measure::{ConfusionCounts, ConfusionTensor, Population};
use crate::shard::Shard;
use crate::world::World;

/// The linear problem's solution and its confusion tensor, over all ranks. Rules, counts and the population are by column; see
/// [`ColumnSpace`](super::column_space::ColumnSpace).
pub(super) struct Oracle<'a> {
    world: &'a World,
    population: &'a Population,
    /// Those of `population`, for the tensors to share.
    positives: Arc<[f64]>,
    pass: CountingPass<'a>,
    counts: ConfusionCounts,
    /// A tensor that is needed no more, whose memory the next one takes.
    spare: Option<ConfusionTensor>,
    pub seconds: PhaseSeconds,
}

impl<'a> Oracle<'a> {
    pub fn new(
        world: &'a World,
        shard: &'a Shard,
        population: &'a Population,
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

    /// Algorithm 1, lines 9 and 10.
    pub fn rule_tensor(&mut self, rule: &Rule) -> ConfusionTensor {
        let Oracle { world, pass, counts, .. } = self;
        timed(&mut self.seconds.oracle, || pass.count(rule, counts));
        let spare = self.spare.take();
        timed(&mut self.seconds.reduce, || {
            let rows = self.population.rows;
            world.sum(&mut counts.true_positives, rows.saturating_mul(self.population.unit));
            world.sum(&mut counts.predicted, rows);
            match spare {
                Some(mut spare) => {
                    spare.set_counts(counts, self.population);
                    spare
                }
                None => ConfusionTensor::with_positives(counts, self.population, Arc::clone(&self.positives)),
            }
        })
    }

    /// Takes back a tensor that [`Oracle::rule_tensor`] gave.
    pub fn reuse(&mut self, tensor: ConfusionTensor) {
        self.spare = Some(tensor);
    }

    /// Rank 0's rule on every rank.
    pub fn broadcast_rule(&mut self, rule: Option<Rule>) -> Rule {
        let mut rule = rule.unwrap_or_else(|| Rule { slopes: Vec::new(), intercepts: Vec::new() });
        timed(&mut self.seconds.reduce, || {
            self.world.broadcast(&mut rule.slopes);
            self.world.broadcast(&mut rule.intercepts);
        });
        rule
    }

    /// What the rows answered to the rule of [`Oracle::rule_tensor`].
    pub fn pack_counts(&mut self) -> Arc<PackedCounts> {
        let counts = &self.counts;
        timed(&mut self.seconds.checkpoint, || Arc::new(PackedCounts::new(counts)))
    }

    /// The tensor of a mixture: that of its rules, weighted. `after_each` is called after each of them.
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

    /// Rank 0's outcome on every rank.
    pub fn broadcast_outcome(&mut self, outcome: Option<IterationOutcome>) -> IterationOutcome {
        let position = |stop| EndReason::ALL.iter().position(|&other| other == stop).unwrap_or(0) as u64;
        let mut code = match outcome {
            None | Some(IterationOutcome::Stepped) => vec![0, 0],
            Some(IterationOutcome::Stalled(stop)) => vec![1, position(stop)],
            Some(IterationOutcome::Stopped(stop)) => vec![2, position(stop)],
        };
        timed(&mut self.seconds.reduce, || self.world.broadcast(&mut code));
        let stop = EndReason::ALL[code[1] as usize];
        match code[0] {
            0 => IterationOutcome::Stepped,
            1 => IterationOutcome::Stalled(stop),
            _ => IterationOutcome::Stopped(stop),
        }
    }
}

/// The tensor of a mixture of rules with these tensors.
pub(super) fn weighted_tensor(weights: &[f64], mut parts: Vec<ConfusionTensor>) -> ConfusionTensor {
    if weights == [1.0] && parts.len() == 1 {
        return parts.swap_remove(0);
    }
    let weighted: Vec<(f64, &ConfusionTensor)> = weights.iter().copied().zip(&parts).collect();
    ConfusionTensor::scaled_sum(&weighted)
}
