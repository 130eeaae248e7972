//! How good a network is on rows that it was not trained on.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::backprop::TrainingData;
use super::forward::{Forward, ROWS_PER_BLOCK};
use super::loss::Loss;
use super::network::Network;
use crate::heartbeat::beat;
use crate::world::World;

/// Figures of the rows held out, over all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValidationScores {
    /// The mean loss of a row.
    pub loss: f64,
    /// Precision at 1, 3 and 5.
    pub precision: [f64; 3],
    /// Macro-F1 at 5.
    pub macro_f1: f64,
}

const PRECISION_AT: [usize; 3] = [1, 3, 5];

impl ValidationScores {
    /// Whether this is better than another, for networks trained with `loss`: a smaller cross-entropy, which judges
    /// probabilities; the others are smallest long before their order of labels is best. They are there for rare labels, at
    /// no cost to rows: so precision and macro-F1 at 5, added up, decide.
    pub(super) fn is_better_than(&self, other: &ValidationScores, loss: Loss) -> bool {
        match loss {
            Loss::Bce => self.loss < other.loss,
            Loss::Focal | Loss::Asymmetric => {
                self.precision[2] + self.macro_f1 > other.precision[2] + other.macro_f1
            }
        }
    }
}

/// Asks about `rows`, which are this rank's; `total` are those of all. Collective.
pub(super) fn validate(
    world: &World,
    network: &Network,
    data: TrainingData<'_>,
    rows: &[usize],
    total: u64,
) -> ValidationScores {
    let figures = |rows: &[usize]| {
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
    let parts: Vec<_> = rows.par_chunks(ROWS_PER_BLOCK).map(figures).collect();
    let macro_f1 = macro_f1(world, network.shape.labels, total, |counts| {
        for &(label, hit) in parts.iter().flat_map(|part| &part.2) {
            counts[label as usize].add(1, hit, 0);
        }
        for &label in rows.iter().flat_map(|&row| data.labels.row(row).0) {
            counts[label as usize].add(0, false, 1);
        }
    });
    let loss: f64 = parts.iter().map(|part| part.0).sum();
    let mut hits: Vec<u64> = (0..3).map(|which| parts.iter().map(|part| part.1[which]).sum()).collect();
    world.sum(&mut hits, total * 5);
    let rows = total.max(1) as f64;
    let precision = std::array::from_fn(|which| hits[which] as f64 / (rows * PRECISION_AT[which] as f64));
    ValidationScores { loss: world.sum_f64(loss) / rows, precision, macro_f1 }
}

/// What is known of a label.
#[derive(Clone, Copy, Default)]
struct F1Counts {
    /// True positives, twice.
    numerator: u64,
    /// Predictions and positives.
    denominator: u64,
}

impl F1Counts {
    fn add(&mut self, predicted: u64, hit: bool, positive: u64) {
        self.numerator += 2 * u64::from(hit);
        self.denominator += predicted + positive;
    }
}

/// The mean over labels of 2 tp / (predicted + positives), 0 where there is neither. Collective.
fn macro_f1(world: &World, labels: usize, total: u64, count: impl FnOnce(&mut [F1Counts])) -> f64 {
    let mut counts = vec![F1Counts::default(); labels];
    count(&mut counts);
    let mut numbers: Vec<u64> =
        counts.iter().flat_map(|count| [count.numerator, count.denominator]).collect();
    world.sum(&mut numbers, 2 * total);
    let f1 = |pair: &[u64]| if pair[1] == 0 { 0.0 } else { pair[0] as f64 / pair[1] as f64 };
    numbers.chunks_exact(2).map(f1).sum::<f64>() / labels as f64
}

/// The five labels with the largest logits, of equal ones the smaller; fewer where there are not so many.
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
    fn macro_f1_is_the_mean_of_the_labels() {
        let world = World::alone();
        let found = macro_f1(&world, 4, 10, |counts| {
            // Three predictions, two of them right, of four positives; one that is never predicted; one never right.
            for (label, hit) in [(0, true), (0, true), (0, false), (2, false)] {
                counts[label].add(1, hit, 0);
            }
            for label in [0usize, 0, 0, 0, 1] {
                counts[label].add(0, false, 1);
            }
        });
        assert_eq!(found, (4.0 / 7.0) / 4.0);
    }

    #[test]
    fn the_largest_come_first_and_of_equal_ones_the_smaller() {
        assert_eq!(top_five(&[0.5, 2.0, -1.0, 2.0, 0.5, 3.0, 0.5]), [5, 1, 3, 0, 4]);
        assert_eq!(top_five(&[1.0, 2.0]), [1, 0]);
    }
}
