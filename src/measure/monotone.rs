//! A check that a formula is a confusion tensor measure (Definition 3.2).
//!
//! A measure may not fall when a false positive becomes a true negative or a false negative a true positive. The optimality of
//! the classifiers of Algorithm 1 depends on it (Assumption 4.3), so other formulas get a warning.

use std::sync::Arc;

use super::confusion::ConfusionTensor;
use super::gradient::Gradient;
use super::objective::Objective;
use crate::random::RandomSequence;

const SAMPLED_TENSORS: usize = 200;

/// Rounding error of derivatives, relative to the steepest one of the tensor.
const TOLERANCE: f64 = 1e-9;

/// Improvements, and the derivative of the metric for each: Gtn - Gfp and Gtp - Gfn.
type Gain = fn(&Gradient, usize) -> f64;
const CHANGES: [(&str, Gain); 2] = [
    ("false positive becomes a true negative", |g, j| -g.intercepts[j]),
    ("false negative becomes a true positive", |g, j| g.slopes[j] + g.intercepts[j]),
];

/// Evaluates a fixed sample of feasible confusion tensors and returns at most one warning of each kind.
pub fn warnings(objective: &Objective) -> Vec<String> {
    let mut random = RandomSequence::from_bits(0x6d61_6372_6f6b, 0);
    let (mut warnings, mut unusable) = ([const { None }; CHANGES.len()], None);
    for _ in 0..SAMPLED_TENSORS {
        let tensor = random_feasible_tensor(objective.budget, &mut random);
        match objective.gradient(&tensor) {
            Err(error) => {
                unusable.get_or_insert_with(|| error.to_string());
            }
            Ok(gradient) => {
                for ((change, gain), warning) in CHANGES.iter().zip(&mut warnings) {
                    if let Some((label, fall)) = steepest_fall(&gradient, *gain) {
                        warning.get_or_insert_with(|| describe(objective, change, &tensor, label, fall));
                    }
                }
            }
        }
    }
    warnings.into_iter().chain([unusable]).flatten().collect()
}

/// The label with the most negative gain, if that is more than rounding.
fn steepest_fall(gradient: &Gradient, gain: Gain) -> Option<(usize, f64)> {
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

/// The tensor of a possible classifier at `k`, with rare and frequent labels.
fn random_feasible_tensor(k: usize, random: &mut RandomSequence) -> ConfusionTensor {
    let mut between = |low: f64, high: f64| low + random.next_uniform() * (high - low);
    // Large budgets need no large tensors, and predicting fewer labels is feasible.
    let budget = k.min(32);
    let labels = (2 * budget).max(3);
    let draws: Vec<f64> = (0..labels).map(|_| between(0.01, 1.0)).collect();
    let scale = budget as f64 / draws.iter().sum::<f64>();
    // At least 1e-3: for rarer labels, epsilon alone could cause a fall.
    let positives: Arc<[f64]> = (0..labels).map(|_| 10f64.powf(between(-3.0, -0.05))).collect();
    let cells = draws.iter().zip(positives.iter()).map(|(draw, &positive)| {
        let predicted = (draw * scale).min(1.0);
        let (fewest, most) = ((positive + predicted - 1.0).max(0.0), positive.min(predicted));
        let hits = between(fewest, most);
        (hits, predicted - hits)
    });
    let (hits, alarms) = cells.unzip();
    ConfusionTensor::from_fractions(hits, alarms, positives)
}
