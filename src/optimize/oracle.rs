//! Rules and their confusion tensors over all ranks.

use std::sync::Arc;

use super::answer::Answer;
use super::frank_wolfe::{Outcome, Stop};
use super::seconds::{Seconds, timed};
use crate::classifier::{Candidates, Mixture, Pass, Rule};
use crate::measure::{Counts, Population, Tensor};
use crate::shard::Shard;
use crate::world::World;

/// The linear problem's solution and its confusion tensor, over all ranks. Rules, counts and the population are by column; see
/// [`Scope`](super::scope::Scope).
pub(super) struct Oracle<'a> {
    world: &'a World,
    population: &'a Population,
    /// Those of `population`, for the tensors to share.
    positives: Arc<[f64]>,
    pass: Pass<'a>,
    counts: Counts,
    /// A tensor that is needed no more, whose memory the next one takes.
    spare: Option<Tensor>,
    pub seconds: Seconds,
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
        let pass = Pass::new(shard, k, candidates, columns);
        let counts = Counts::new(columns);
        let seconds = Seconds::default();
        Oracle { world, population, positives, pass, counts, spare: None, seconds }
    }

    /// Algorithm 1, lines 9 and 10.
    pub fn tensor(&mut self, rule: &Rule) -> Tensor {
        let Oracle { world, pass, counts, .. } = self;
        timed(&mut self.seconds.oracle, || pass.count(rule, counts));
        let spare = self.spare.take();
        timed(&mut self.seconds.reduce, || {
            let rows = self.population.rows;
            world.sum(&mut counts.true_positives, rows.saturating_mul(self.population.unit));
            world.sum(&mut counts.predicted, rows);
            match spare {
                Some(mut spare) => {
                    spare.recount(counts, self.population);
                    spare
                }
                None => Tensor::with_positives(counts, self.population, Arc::clone(&self.positives)),
            }
        })
    }

    /// Takes back a tensor that [`Oracle::tensor`] gave.
    pub fn reuse(&mut self, tensor: Tensor) {
        self.spare = Some(tensor);
    }

    /// Rank 0's rule on every rank.
    pub fn share(&mut self, rule: Option<Rule>) -> Rule {
        let mut rule = rule.unwrap_or_else(|| Rule { slopes: Vec::new(), intercepts: Vec::new() });
        timed(&mut self.seconds.reduce, || {
            self.world.broadcast(&mut rule.slopes);
            self.world.broadcast(&mut rule.intercepts);
        });
        rule
    }

    /// What the rows answered to the rule of [`Oracle::tensor`].
    pub fn answer(&mut self) -> Arc<Answer> {
        let counts = &self.counts;
        timed(&mut self.seconds.checkpoint, || Arc::new(Answer::new(counts)))
    }

    /// The tensor of a mixture: that of its rules, weighted. `heard` is called after each of them.
    pub fn mixed(&mut self, mixture: &Mixture, mut heard: impl FnMut(&mut Self)) -> Tensor {
        let mut tensor = |rule: &Arc<Rule>| {
            let tensor = self.tensor(rule);
            heard(self);
            tensor
        };
        let parts: Vec<Tensor> = mixture.rules.iter().map(&mut tensor).collect();
        mixture_of(&mixture.weights, parts)
    }

    /// Rank 0's outcome on every rank.
    pub fn share_outcome(&mut self, outcome: Option<Outcome>) -> Outcome {
        let position = |stop| Stop::ALL.iter().position(|&other| other == stop).unwrap_or(0) as u64;
        let mut code = match outcome {
            None | Some(Outcome::Stepped) => vec![0, 0],
            Some(Outcome::Stalled(stop)) => vec![1, position(stop)],
            Some(Outcome::Stopped(stop)) => vec![2, position(stop)],
        };
        timed(&mut self.seconds.reduce, || self.world.broadcast(&mut code));
        let stop = Stop::ALL[code[1] as usize];
        match code[0] {
            0 => Outcome::Stepped,
            1 => Outcome::Stalled(stop),
            _ => Outcome::Stopped(stop),
        }
    }
}

/// The tensor of a mixture of rules with these tensors.
pub(super) fn mixture_of(weights: &[f64], mut parts: Vec<Tensor>) -> Tensor {
    if weights == [1.0] && parts.len() == 1 {
        return parts.swap_remove(0);
    }
    let weighted: Vec<(f64, &Tensor)> = weights.iter().copied().zip(&parts).collect();
    Tensor::scaled_sum(&weighted)
}
