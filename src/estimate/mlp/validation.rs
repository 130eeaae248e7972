//! Scores of a network on held-out rows.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::backprop::TrainingData;
use super::loss::Loss;
use super::network::Network;
use super::predict::{Forward, ROWS_PER_BLOCK};
use crate::heartbeat::beat;
use crate::world::World;

/// Scores over the held-out rows of all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValidationScores {
    /// Mean loss of a row.
    pub loss: f64,
    /// Precision at 1, 3 and 5.
    pub precision: [f64; 3],
    /// Macro-F1 at 5.
    pub macro_f1: f64,
}

const PRECISION_AT: [usize; 3] = [1, 3, 5];

impl ValidationScores {
    /// Whether this is better than `other` for networks trained with `loss`. The cross-entropy decides if it is the
    /// loss, as it judges probabilities. The other losses are minimal long before the ranking of labels is best; they
    /// serve rare labels, so the sum of precision and macro-F1 at 5 decides.
    pub(super) fn is_better_than(&self, other: &ValidationScores, loss: Loss) -> bool {
        match loss {
            Loss::Bce => self.loss < other.loss,
            Loss::Focal | Loss::Asymmetric => {
                self.precision[2] + self.macro_f1 > other.precision[2] + other.macro_f1
            }
        }
    }
}

/// Scores `rows` of this rank, together with those of the other ranks, `total` in all. Collective.
pub(super) fn validate(
    world: &World,
    network: &Network,
    data: TrainingData<'_>,
    rows: &[usize],
    total: u64,
) -> ValidationScores {
    let score = |rows: &[usize]| {
        let mut forward = Forward::new();
        let logits = forward.logits(network, rows.iter().map(|&row| data.features.row(row)));
        let (mut loss, mut hits, mut picks) = (0.0, [0u64; 3], Vec::with_capacity(5 * rows.len()));
        for (logits, &row) in logits.chunks_exact_mut(network.shape.labels).zip(rows) {
            let labels = data.labels.row(row).0;
            for (at, label) in top_five(logits).into_iter().enumerate() {
                let hit = labels.binary_search(&label).is_ok();
                picks.push((label, hit));
                if hit {
                    (0..3).filter(|&which| at < PRECISION_AT[which]).for_each(|which| hits[which] += 1);
                }
            }
            loss += data.loss.gradients(logits, labels.iter().map(|&label| label as usize), 1.0);
        }
        beat();
        (loss, hits, picks)
    };
    let parts: Vec<_> = rows.par_chunks(ROWS_PER_BLOCK).map(score).collect();
    let predictions = parts.iter().flat_map(|part| part.2.iter().copied());
    let positives = rows.iter().flat_map(|&row| data.labels.row(row).0.iter().copied());
    let macro_f1 = macro_f1(world, network.shape.labels, total, predictions, positives);
    let loss: f64 = parts.iter().map(|part| part.0).sum();
    let mut hits: Vec<u64> = (0..3).map(|which| parts.iter().map(|part| part.1[which]).sum()).collect();
    world.sum(&mut hits, total * 5);
    let rows = total.max(1) as f64;
    let precision = std::array::from_fn(|which| hits[which] as f64 / (rows * PRECISION_AT[which] as f64));
    ValidationScores { loss: world.sum_f64(loss) / rows, precision, macro_f1 }
}

/// Returns the mean over labels of 2 tp / (predictions + positives), with 0 for 0 / 0. Predictions are labels and
/// whether they are correct. Collective.
fn macro_f1(
    world: &World,
    labels: usize,
    total: u64,
    predictions: impl Iterator<Item = (u32, bool)>,
    positives: impl Iterator<Item = u32>,
) -> f64 {
    // The numerator and denominator of each label.
    let mut counts = vec![0u64; 2 * labels];
    for (label, correct) in predictions {
        counts[2 * label as usize] += 2 * u64::from(correct);
        counts[2 * label as usize + 1] += 1;
    }
    positives.for_each(|label| counts[2 * label as usize + 1] += 1);
    world.sum(&mut counts, 2 * total);
    let f1 = |pair: &[u64]| if pair[1] == 0 { 0.0 } else { pair[0] as f64 / pair[1] as f64 };
    counts.chunks_exact(2).map(f1).sum::<f64>() / labels as f64
}

/// Returns the five labels with the largest logits, in that order; of equal ones, the smaller come first.
fn top_five(logits: &[f32]) -> Vec<u32> {
    let mut best: Vec<(f32, u32)> = Vec::with_capacity(6);
    for (label, &logit) in (0..).zip(logits) {
        if best.len() < 5 || logit > best[4].0 {
            let at = best.partition_point(|&(other, _)| other >= logit);
            best.insert(at, (logit, label));
            best.truncate(5);
        }
    }
    best.into_iter().map(|(_, label)| label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macro_f1_is_the_mean_over_labels() {
        let world = World::alone();
        // Label 0: three predictions, two of them correct, four positives. Label 1: never predicted. Label 2: never
        // correct.
        let predictions = [(0, true), (0, true), (0, false), (2, false)];
        let found = macro_f1(&world, 4, 10, predictions.into_iter(), [0, 0, 0, 0, 1].into_iter());
        assert_eq!(found, (4.0 / 7.0) / 4.0);
    }

    #[test]
    fn top_five_prefers_smaller_labels_among_equal_logits() {
        assert_eq!(top_five(&[0.5, 2.0, -1.0, 2.0, 0.5, 3.0, 0.5]), [5, 1, 3, 0, 4]);
        assert_eq!(top_five(&[1.0, 2.0]), [1, 0]);
    }
}
