//! Metrics of tallies.

use super::evaluation::Summary;
use super::tally::Tally;
use crate::error::Result;
use crate::measure::{ConfusionTensor, Metric, Population};

/// Metrics by name, in the order of [`standard_metric_names`].
pub type Scores = Vec<(String, f64)>;

/// Measures of one label, averaged as `macro-` and `micro-`.
const LABEL_MEASURES: [&str; 10] = [
    "precision",
    "recall",
    "f1",
    "fbeta(2)",
    "jaccard",
    "balanced-accuracy",
    "gmean",
    "hmean",
    "auc",
    "accuracy",
];

/// The other metrics.
const OTHER_METRICS: [&str; 7] =
    ["instance-precision", "instance-recall", "instance-f1", "ndcg", "ps-precision", "hamming", "coverage"];

const AVERAGES: [&str; 2] = ["macro", "micro"];

/// Pairs of names for the same number, apart from epsilon, if every label has positives and negatives.
const TWINS: [(&str, &str); 4] = [
    ("instance-precision", "micro-precision"),
    ("macro-accuracy", "micro-accuracy"),
    ("macro-balanced-accuracy", "macro-auc"),
    ("micro-balanced-accuracy", "micro-auc"),
];

/// Joins the names of a summary that stand for the same number, as in "macro-accuracy = micro-accuracy".
pub fn join_equal(summary: &[(String, Summary)]) -> Vec<(String, Summary)> {
    const TOLERANCE: f64 = 1e-7;
    let mut joined: Vec<(String, Summary)> = summary.to_vec();
    for (name, twin) in TWINS {
        let position = |wanted: &str| joined.iter().position(|(name, _)| name == wanted);
        let (Some(first), Some(second)) = (position(name), position(twin)) else { continue };
        let [one, other] = [first, second].map(|at| &joined[at].1);
        if (one.mean - other.mean).abs() < TOLERANCE && (one.std - other.std).abs() < TOLERANCE {
            joined[first].0 = format!("{name} = {twin}");
            joined.remove(second);
        }
    }
    joined
}

/// Returns the names of the metrics of [`score`].
pub fn standard_metric_names() -> impl Iterator<Item = String> {
    let averaged = AVERAGES
        .iter()
        .flat_map(|average| LABEL_MEASURES.iter().map(move |name| format!("{average}-{name}")));
    OTHER_METRICS.iter().map(|&name| name.to_owned()).chain(averaged)
}

/// Returns all metrics, then the values of `formulas` under their texts. `parts` are tallies with weights that sum to 1: one draw,
/// or the rules of a mixture, for the exact expectation over its draws.
pub fn score(parts: &[(f64, &Tally)], epsilon: f64, formulas: &[Metric]) -> Result<Scores> {
    let tallies: Vec<&Tally> = parts.iter().map(|part| part.1).collect();
    let tensors: Vec<ConfusionTensor> = tallies
        .iter()
        .map(|tally| {
            let population = Population { rows: tally.rows, unit: 1, positives: tally.positives.clone() };
            ConfusionTensor::new(&tally.counts, &population)
        })
        .collect();
    let weighted: Vec<(f64, &ConfusionTensor)> = parts.iter().map(|part| part.0).zip(&tensors).collect();
    let tensor = ConfusionTensor::scaled_sum(&weighted);
    let first = tallies[0];
    let per_row = |value: fn(&Tally) -> f64| {
        parts.iter().map(|(weight, tally)| weight * value(tally)).sum::<f64>() / first.rows as f64
    };
    let labels = tensor.labels() as f64;
    let covered = tensor.true_positives.iter().filter(|&&tp| tp > 0.0).count();
    let wrong: f64 = (0..tensor.labels())
        .map(|label| {
            let [_, false_positive, false_negative, _] = tensor.cells(label);
            false_positive + false_negative
        })
        .sum();
    let best = per_row(|tally| tally.propensity_best);
    let whole = [
        tensor.true_positives.iter().sum::<f64>() / first.k as f64,
        per_row(|tally| tally.recall),
        per_row(|tally| tally.f1),
        per_row(|tally| tally.ndcg),
        if best > 0.0 { per_row(|tally| tally.propensity_hits) / best } else { 0.0 },
        wrong / labels,
        covered as f64 / labels,
    ];
    let mut scores: Scores = standard_metric_names().zip(whole).collect();
    let value = |metric: &Metric| metric.bind(first.k, epsilon).value(&tensor);
    for name in standard_metric_names().skip(OTHER_METRICS.len()) {
        let value = value(&Metric::parse(&name)?);
        scores.push((name, value));
    }
    scores.extend(formulas.iter().map(|metric| (metric.text().to_owned(), value(metric))));
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_names_of_the_same_number_only() {
        let summary = |numbers: [f64; 4]| -> Vec<(String, Summary)> {
            let names = ["macro-accuracy", "micro-accuracy", "macro-balanced-accuracy", "macro-auc"];
            let rows = names.into_iter().zip(numbers);
            rows.map(|(name, mean)| (name.to_owned(), Summary { mean, std: 0.0 })).collect()
        };
        let joined = join_equal(&summary([0.9, 0.9, 0.75, 0.5]));
        let names: Vec<&str> = joined.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["macro-accuracy = micro-accuracy", "macro-balanced-accuracy", "macro-auc"]);
    }
}
