//! Sums over rows that all metrics are computed from. Integers, so ranks and threads may add them
//! in any order.

use crate::classifier::{Pick, add_counts, count_positives, fold_blocks, propensities};
use crate::measure::Counts;
use crate::shard::{FixedPoint, Shard};
use crate::world::World;

/// What propensity-scored precision weighs hits with: inverse propensities, the largest being 1.
pub struct Propensities {
    inverse: Vec<f64>,
}

impl Propensities {
    /// From the label counts of the training data (Jain et al. 2016; A and B as the Extreme
    /// Classification repository has them for each data set, 0.55 and 1.5 unless said otherwise).
    pub fn new(positives: &[u64], rows: u64, a: f64, b: f64) -> Propensities {
        let inverse: Vec<f64> = propensities(positives, rows, a, b).iter().map(|p| 1.0 / p).collect();
        let largest = inverse.iter().copied().fold(1.0, f64::max);
        // The metric is a ratio of two sums of these, so their scale is free; at most 1 they fit
        // fixed-point sums.
        Propensities { inverse: inverse.iter().map(|value| value / largest).collect() }
    }
}

/// Counts of one set of predictions, over all ranks.
#[derive(Clone, Debug)]
pub struct Tally {
    pub counts: Counts,
    pub positives: Vec<u64>,
    pub rows: u64,
    pub k: usize,
    /// Sums over rows, decoded: recall, F1, nDCG, propensity-scored hits and the best possible.
    pub recall: f64,
    pub f1: f64,
    pub ndcg: f64,
    pub propensity_hits: f64,
    pub propensity_best: f64,
}

const SUMS: usize = 5;

/// Adds up predictions (k picks a row, best first) against the shard's labels. Collective.
pub fn tally(world: &World, shard: &Shard, picks: &[Pick], k: usize, propensities: &Propensities) -> Tally {
    let labels = shard.labels();
    let fixed = FixedPoint::for_terms(shard.total_rows);
    let parts = fold_blocks(
        shard.local_rows(),
        || (Counts::new(labels), [0; SUMS]),
        |(counts, sums), rows| {
            let mut ideal = Vec::new();
            for local in rows {
                let picks = &picks[local * k..(local + 1) * k];
                let truth = shard.true_labels(local);
                let row = score_row(counts, picks, truth, propensities, &mut ideal);
                for (sum, value) in sums.iter_mut().zip(row) {
                    *sum += fixed.encode(value);
                }
            }
        },
    );
    let (mut counts, mut sums) = (Counts::new(labels), [0u64; SUMS]);
    for part in parts {
        counts = add_counts(counts, part.0);
        sums.iter_mut().zip(part.1).for_each(|(sum, part)| *sum += part);
    }
    let mut positives = count_positives(shard);
    world.sum(&mut counts.true_positives);
    world.sum(&mut counts.predicted);
    world.sum(&mut positives);
    world.sum(&mut sums);
    let [recall, f1, ndcg, propensity_hits, propensity_best] = sums.map(|sum| fixed.decode(sum));
    Tally { counts, positives, rows: shard.total_rows, k, recall, f1, ndcg, propensity_hits, propensity_best }
}

/// One row's counts, and its five values in [0, 1].
fn score_row(
    counts: &mut Counts,
    picks: &[Pick],
    truth: &[u32],
    propensities: &Propensities,
    ideal: &mut Vec<f64>,
) -> [f64; SUMS] {
    let (mut hits, mut gain, mut weighted) = (0.0, 0.0, 0.0);
    for (position, pick) in picks.iter().enumerate() {
        let label = pick.label as usize;
        counts.predicted[label] += 1;
        if truth.binary_search(&pick.label).is_ok() {
            counts.true_positives[label] += 1;
            hits += 1.0;
            gain += discount(position);
            weighted += propensities.inverse[label];
        }
    }
    if truth.is_empty() {
        return [0.0; SUMS];
    }
    ideal.clear();
    ideal.extend(truth.iter().map(|&label| propensities.inverse[label as usize]));
    ideal.sort_unstable_by(|a, b| b.total_cmp(a));
    let reachable = truth.len().min(picks.len());
    let best_gain: f64 = (0..reachable).map(discount).sum();
    let best_weighted: f64 = ideal[..reachable].iter().sum();
    let (k, relevant) = (picks.len() as f64, truth.len() as f64);
    [
        hits / relevant,
        2.0 * hits / (k + relevant),
        // A sum of the same discounts in another order may end a rounding error above 1.
        (gain / best_gain).min(1.0),
        weighted / k,
        best_weighted / k,
    ]
}

/// DCG's weight of a hit at `position`, counted from 0.
fn discount(position: usize) -> f64 {
    1.0 / (position as f64 + 2.0).log2()
}
