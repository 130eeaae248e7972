//! Sums over rows, from which all metrics are computed. They are integers, so ranks and threads may add them in any order.

use crate::classifier::{DrawOptions, Mixture, Pick, add_counts, fold_predictions, propensities};
use crate::load::LabelCounts;
use crate::measure::ConfusionCounts;
use crate::shard::{FixedPoint, Shard};
use crate::world::World;

/// Weights of hits in propensity-scored precision: inverse propensities, scaled so that the largest is 1.
pub struct InversePropensities {
    inverse: Vec<f64>,
}

impl InversePropensities {
    /// Computes weights from the label counts of the training data (Jain et al. 2016). The Extreme Classification repository
    /// lists A and B of each data set; 0.55 and 1.5 are usual.
    pub fn new(positives: &[u64], rows: u64, a: f64, b: f64) -> InversePropensities {
        let inverse: Vec<f64> = propensities(positives, rows, a, b).iter().map(|p| 1.0 / p).collect();
        let largest = inverse.iter().copied().fold(1.0, f64::max);
        // The metric is a ratio of two sums of weights, so their scale is free; weights up to 1 fit fixed-point sums.
        InversePropensities { inverse: inverse.iter().map(|value| value / largest).collect() }
    }
}

/// Counts of one set of predictions, over all ranks.
#[derive(Clone, Debug)]
pub struct Tally {
    pub counts: ConfusionCounts,
    pub positives: Vec<u64>,
    pub rows: u64,
    pub k: usize,
    /// Sums over rows of recall, F1, nDCG, propensity-scored hits and their best possible value.
    pub recall: f64,
    pub f1: f64,
    pub ndcg: f64,
    pub propensity_hits: f64,
    pub propensity_best: f64,
}

const SUMS: usize = 5;

/// Tallies predictions, k picks for each row in descending order, against the true labels. Collective.
pub fn tally(
    world: &World,
    shard: &Shard,
    picks: &[Pick],
    k: usize,
    propensities: &InversePropensities,
) -> Tally {
    let blocks = shard.marginals.blocks();
    let parts = blocks.fold(
        || TallySums::new(shard, propensities),
        |sums, block| {
            for local in blocks.rows(block) {
                sums.add(local, &picks[local * k..(local + 1) * k]);
            }
        },
    );
    sum_over_ranks(world, shard, k, parts)
}

/// Draws predictions and tallies them without storing them. Collective.
pub fn tally_draw(
    world: &World,
    shard: &Shard,
    mixture: &Mixture,
    draw: DrawOptions,
    propensities: &InversePropensities,
) -> Tally {
    let new = || TallySums::new(shard, propensities);
    let add = |sums: &mut TallySums<'_>, _: usize, local: usize, picks: &[Pick]| sums.add(local, picks);
    let parts = fold_predictions(&shard.marginals, shard.rows.start, mixture, draw, new, add);
    sum_over_ranks(world, shard, mixture.k, parts)
}

/// One thread's sums over rows.
struct TallySums<'s> {
    shard: &'s Shard,
    propensities: &'s InversePropensities,
    counts: ConfusionCounts,
    /// Sums of the values of [`score_row`].
    values: [u64; SUMS],
    ideal: Vec<f64>,
}

impl<'s> TallySums<'s> {
    fn new(shard: &'s Shard, propensities: &'s InversePropensities) -> Self {
        let counts = ConfusionCounts::new(shard.labels());
        TallySums { shard, propensities, counts, values: [0; SUMS], ideal: Vec::new() }
    }

    fn add(&mut self, local: usize, picks: &[Pick]) {
        let fixed = FixedPoint::for_terms(self.shard.total_rows);
        let true_labels = self.shard.true_labels(local);
        let row = score_row(&mut self.counts, picks, true_labels, self.propensities, &mut self.ideal);
        for (sum, value) in self.values.iter_mut().zip(row) {
            *sum += fixed.encode(value);
        }
    }
}

fn sum_over_ranks(world: &World, shard: &Shard, k: usize, parts: Vec<TallySums<'_>>) -> Tally {
    let (mut counts, mut values) = (ConfusionCounts::new(shard.labels()), [0u64; SUMS]);
    for part in parts {
        counts = add_counts(counts, part.counts);
        values.iter_mut().zip(part.values).for_each(|(sum, part)| *sum += part);
    }
    world.sum(&mut counts.true_positives, shard.total_rows);
    world.sum(&mut counts.predicted, shard.total_rows);
    let positives = LabelCounts::of_shard(world, shard).positives;
    world.sum(&mut values, u64::MAX);
    let fixed = FixedPoint::for_terms(shard.total_rows);
    let [recall, f1, ndcg, propensity_hits, propensity_best] = values.map(|sum| fixed.decode(sum));
    Tally { counts, positives, rows: shard.total_rows, k, recall, f1, ndcg, propensity_hits, propensity_best }
}

/// Adds the counts of one row, and returns its five values in [0, 1].
fn score_row(
    counts: &mut ConfusionCounts,
    picks: &[Pick],
    true_labels: &[u32],
    propensities: &InversePropensities,
    ideal: &mut Vec<f64>,
) -> [f64; SUMS] {
    let (mut hits, mut gain, mut weighted) = (0.0, 0.0, 0.0);
    for (position, pick) in picks.iter().enumerate() {
        let label = pick.label.index();
        counts.predicted[label] += 1;
        if true_labels.binary_search(&pick.label.0).is_ok() {
            counts.true_positives[label] += 1;
            hits += 1.0;
            gain += discount(position);
            weighted += propensities.inverse[label];
        }
    }
    if true_labels.is_empty() {
        return [0.0; SUMS];
    }
    ideal.clear();
    ideal.extend(true_labels.iter().map(|&label| propensities.inverse[label as usize]));
    ideal.sort_unstable_by(|a, b| b.total_cmp(a));
    let reachable = true_labels.len().min(picks.len());
    let best_gain: f64 = (0..reachable).map(discount).sum();
    let best_weighted: f64 = ideal[..reachable].iter().sum();
    let (k, relevant) = (picks.len() as f64, true_labels.len() as f64);
    [
        hits / relevant,
        2.0 * hits / (k + relevant),
        // Discounts summed in another order may exceed 1 by rounding.
        (gain / best_gain).min(1.0),
        weighted / k,
        best_weighted / k,
    ]
}

/// Returns the weight of a hit at `position`, from 0, in DCG.
fn discount(position: usize) -> f64 {
    1.0 / (position as f64 + 2.0).log2()
}
