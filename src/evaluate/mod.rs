//! How good predictions are: every metric of DESIGN section 5, from integer sums over rows.

mod evaluation;
mod reliability;
mod scores;
mod tally;

pub use evaluation::{Evaluation, EvaluationMode};
pub use reliability::{CalibrationReport, ReliabilityBin, measure_calibration};
pub use scores::{Scores, score, score_with_formulas, standard_metric_names};
pub use tally::{InversePropensities, Tally, tally, tally_draw};

use crate::classifier::{DrawOptions, Mixture, Sampling};
use crate::shard::Shard;
use crate::world::World;

/// Mean and deviation of each metric over repeated draws.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Summary {
    pub mean: f64,
    /// Population standard deviation, as numpy's `std` has it.
    pub std: f64,
}

/// Draws predictions `repeats` times and scores each draw. Collective.
pub fn tally_repeated_draws(
    world: &World,
    shard: &Shard,
    mixture: &Mixture,
    sampling: Sampling,
    (seed, repeats): (u64, u32),
    propensities: &InversePropensities,
    mut finished: impl FnMut(u32),
) -> Vec<Tally> {
    // A single rule leaves nothing to chance: every draw is the first one.
    let draws = if mixture.rules.len() == 1 { 1 } else { repeats };
    (0..draws)
        .map(|round| {
            let draw = DrawOptions { sampling, seed, round };
            let tally = tally_draw(world, shard, mixture, draw, propensities);
            finished(round + 1);
            tally
        })
        .collect()
}

/// Mean and deviation, metric by metric.
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
