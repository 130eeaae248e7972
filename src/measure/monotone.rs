//! Whether a formula is a confusion tensor measure at all (Definition def:conftensormeasure).
//!
//! A measure may not fall when a false positive becomes a true negative or a false negative a true positive.
//! The optimality of Algorithm 1's classifiers rests on that (Assumption assumption:monotonicity), so a
//! formula that breaks it is allowed but named.

use std::sync::Arc;

use super::confusion::ConfusionTensor;
use super::gradient::Gradient;
use super::objective::Objective;

const SAMPLED_TENSORS: usize = 200;

/// Derivatives below minus this, relative to the steepest one of the tensor, are falls and not rounding.
const TOLERANCE: f64 = 1e-9;

/// Looks for falls on a fixed sample of feasible confusion tensors; at most one warning of each kind.
pub fn warnings(objective: &Objective) -> Vec<String> {
    let mut random = Random(0x6d61_6372_6f6b);
    let (mut alarm, mut miss, mut unusable) = (None, None, None);
    for _ in 0..SAMPLED_TENSORS {
        let tensor = random_feasible_tensor(objective.budget, &mut random);
        match objective.gradient(&tensor) {
            Err(error) => {
                unusable.get_or_insert_with(|| error.to_string());
            }
            Ok(gradient) => {
                let found = |gain: fn(&Gradient, usize) -> f64| steepest_fall(&gradient, gain);
                // fp to tn changes the metric by Gtn - Gfp, and fn to tp by Gtp - Gfn.
                if let Some((label, fall)) = found(|g, j| -g.intercepts[j]) {
                    alarm.get_or_insert_with(|| {
                        describe(objective, "false positive becomes a true negative", &tensor, label, fall)
                    });
                }
                if let Some((label, fall)) = found(|g, j| g.slopes[j] + g.intercepts[j]) {
                    miss.get_or_insert_with(|| {
                        describe(objective, "false negative becomes a true positive", &tensor, label, fall)
                    });
                }
            }
        }
    }
    [alarm, miss, unusable].into_iter().flatten().collect()
}

/// The label where the gain is most negative, if that is more than rounding.
fn steepest_fall(gradient: &Gradient, gain: fn(&Gradient, usize) -> f64) -> Option<(usize, f64)> {
    let steepness = |j: usize| gradient.slopes[j].abs() + gradient.intercepts[j].abs();
    let labels = 0..gradient.slopes.len();
    let scale = labels.clone().map(steepness).fold(0.0, f64::max);
    let (label, fall) = labels.map(|j| (j, gain(gradient, j))).min_by(|a, b| a.1.total_cmp(&b.1))?;
    (fall < -TOLERANCE * scale).then_some((label, fall))
}

fn describe(
    objective: &Objective,
    change: &str,
    tensor: &ConfusionTensor,
    label: usize,
    fall: f64,
) -> String {
    let [tp, fp, miss, tn] = tensor.cells(label);
    format!(
        "metric `{}` falls when a {change} (derivative {fall:.3e} at a label with tp {tp:.4}, fp {fp:.4}, \
         fn {miss:.4}, tn {tn:.4}), so it is not a confusion tensor measure and the result may be far from the best",
        objective.text
    )
}

/// A tensor that some classifier at `k` could have, with rare and frequent labels.
fn random_feasible_tensor(k: usize, random: &mut Random) -> ConfusionTensor {
    // Predicting less than the budget is feasible too, and a large one needs no large sample.
    let budget = k.min(32);
    let labels = (2 * budget).max(3);
    let draws: Vec<f64> = (0..labels).map(|_| random.between(0.01, 1.0)).collect();
    let scale = budget as f64 / draws.iter().sum::<f64>();
    // 1e-3 at least: where a label is so rare that epsilon matters, a fall would be its doing.
    let positives: Arc<[f64]> = (0..labels).map(|_| 10f64.powf(random.between(-3.0, -0.05))).collect();
    let cells = draws.iter().zip(positives.iter()).map(|(draw, &positive)| {
        let predicted = (draw * scale).min(1.0);
        let (fewest, most) = ((positive + predicted - 1.0).max(0.0), positive.min(predicted));
        let hits = random.between(fewest, most);
        (hits, predicted - hits)
    });
    let (hits, alarms) = cells.unzip();
    ConfusionTensor::from_fractions(hits, alarms, positives)
}

/// SplitMix64: small, and the same sample on every machine.
struct Random(u64);

impl Random {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let unit = ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        low + unit * (high - low)
    }
}
