//! Evaluating a classifier: by draws from its mixture, or in exact expectation.

use super::scores::{Scores, score_with_formulas};
use super::tally::{InversePropensities, Tally, tally_draw};
use super::{Summary, summarise, tally_repeated_draws};
use crate::classifier::{DrawOptions, Mixture, Rule, Sampling};
use crate::error::Result;
use crate::measure::Metric;
use crate::progress::Progress;
use crate::shard::Shard;
use crate::world::World;

/// The predictions that metrics are computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EvaluationMode {
    /// `repeats` draws from the mixture.
    Drawn { sampling: Sampling, seed: u64, repeats: u32 },
    /// The exact expectation of the confusion tensor over draws.
    Expected,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    pub mode: EvaluationMode,
    pub epsilon: f64,
    /// Metrics in addition to the standard ones.
    pub formulas: Vec<Metric>,
}

impl Evaluation {
    /// Returns the number of draws that means are over.
    pub fn draws(&self) -> u32 {
        match self.mode {
            EvaluationMode::Drawn { repeats, .. } => repeats,
            EvaluationMode::Expected => 1,
        }
    }

    /// Returns mean and deviation of every metric. Collective.
    pub fn summary(
        &self,
        world: &World,
        shard: &Shard,
        mixture: &Mixture,
        propensities: &InversePropensities,
        progress: &dyn Progress,
    ) -> Result<Vec<(String, Summary)>> {
        let score = |parts: &[(f64, &Tally)]| score_with_formulas(parts, self.epsilon, &self.formulas);
        let scores: Vec<Scores> = match self.mode {
            EvaluationMode::Expected => {
                let tallies = tally_each_rule(world, shard, mixture, propensities);
                let parts: Vec<(f64, &Tally)> = mixture.weights.iter().copied().zip(&tallies).collect();
                vec![score(&parts)?]
            }
            EvaluationMode::Drawn { sampling, seed, repeats } => {
                let draws = (seed, repeats);
                let tallies =
                    tally_repeated_draws(world, shard, mixture, sampling, draws, propensities, progress);
                tallies.iter().map(|tally| score(&[(1.0, tally)])).collect::<Result<_>>()?
            }
        };
        Ok(summarise(&scores))
    }
}

/// Returns the tally of every rule alone.
fn tally_each_rule(
    world: &World,
    shard: &Shard,
    mixture: &Mixture,
    propensities: &InversePropensities,
) -> Vec<Tally> {
    let Mixture { k, candidates, rules, .. } = mixture;
    let draw = DrawOptions { sampling: Sampling::Rule, seed: 0, round: 0 };
    let alone = |rule: &Rule| Mixture::single(rule.clone(), *k, *candidates);
    rules.iter().map(|rule| tally_draw(world, shard, &alone(rule), draw, propensities)).collect()
}
