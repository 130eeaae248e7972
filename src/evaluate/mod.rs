//! Evaluation of predictions: metrics from integer sums over rows, and the calibration of marginals.

mod evaluation;
mod reliability;
mod scores;
mod tally;

pub use evaluation::{Evaluation, EvaluationMode};
pub use reliability::{CalibrationReport, ReliabilityBin, measure_calibration};
pub use scores::{Scores, join_equal, score, score_with_formulas, standard_metric_names};
pub use tally::{InversePropensities, Tally, tally, tally_draw};

use crate::classifier::{DrawOptions, Mixture, Sampling};
use crate::progress::Progress;
use crate::shard::Shard;
use crate::world::World;

/// Mean and deviation of a metric over repeated draws.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Summary {
    pub mean: f64,
    /// Population standard deviation, as of numpy's `std`.
    pub std: f64,
}

/// Draws predictions `repeats` times and tallies each draw. Collective.
pub fn tally_repeated_draws(
    world: &World,
    shard: &Shard,
    mixture: &Mixture,
    sampling: Sampling,
    (seed, repeats): (u64, u32),
    propensities: &InversePropensities,
    progress: &dyn Progress,
) -> Vec<Tally> {
    // All draws from a single rule are equal.
    let draws = if mixture.rules.len() == 1 { 1 } else { repeats };
    progress.started("drawing", draws.into(), 0);
    let draw = |round| {
        let tally = tally_draw(world, shard, mixture, DrawOptions { sampling, seed, round }, propensities);
        progress.advanced(1);
        tally
    };
    let tallies = (0..draws).map(draw).collect();
    progress.finished();
    tallies
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
