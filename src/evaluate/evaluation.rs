//! Evaluating a classifier: by draws from its mixture, or in exact expectation.

use super::scores::{self, Scores};
use super::tally::{InversePropensities, Tally, tally_draw};
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

/// Mean and deviation of a metric over repeated draws.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Summary {
    pub mean: f64,
    /// Population standard deviation, as of numpy's `std`.
    pub std: f64,
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
        let Mixture { k, candidates, rules, weights } = mixture;
        let (draws, sampling, seed) = match self.mode {
            EvaluationMode::Expected => (rules.len() as u32, Sampling::Rule, 0),
            // All draws from a single rule are equal.
            EvaluationMode::Drawn { sampling, seed, .. } if rules.len() == 1 => (1, sampling, seed),
            EvaluationMode::Drawn { sampling, seed, repeats } => (repeats, sampling, seed),
        };
        progress.started("evaluating draws", draws.into(), 0);
        let tally = |mixture: &Mixture, round| {
            let tally =
                tally_draw(world, shard, mixture, DrawOptions { sampling, seed, round }, propensities);
            progress.advanced(1);
            tally
        };
        let score = |parts: &[(f64, &Tally)]| scores::score(parts, self.epsilon, &self.formulas);
        let scores: Vec<Scores> = match self.mode {
            EvaluationMode::Expected => {
                let alone = |rule: &Rule| tally(&Mixture::single(rule.clone(), *k, *candidates), 0);
                let tallies: Vec<Tally> = rules.iter().map(|rule| alone(rule)).collect();
                let parts: Vec<(f64, &Tally)> = weights.iter().copied().zip(&tallies).collect();
                vec![score(&parts)?]
            }
            EvaluationMode::Drawn { .. } => {
                (0..draws).map(|round| score(&[(1.0, &tally(mixture, round))])).collect::<Result<_>>()?
            }
        };
        progress.finished();
        Ok(summarise(&scores))
    }
}

/// Returns mean and deviation of each metric.
pub fn summarise(draws: &[Scores]) -> Vec<(String, Summary)> {
    let Some(first) = draws.first() else { return Vec::new() };
    let count = draws.len() as f64;
    (0..first.len())
        .map(|at| {
            let mean = draws.iter().map(|draw| draw[at].1).sum::<f64>() / count;
            let spread = draws.iter().map(|draw| (draw[at].1 - mean).powi(2)).sum::<f64>() / count;
            (first[at].0.clone(), Summary { mean, std: spread.sqrt() })
        })
        .collect()
}
