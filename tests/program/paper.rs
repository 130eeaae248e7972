//! Numbers and closed forms from the paper.

use std::path::Path;

use crate::common::files::{Parts, create, integers};
use crate::common::{macrok, real_data, text};

/// Marginals of two instances and three labels (appendix "Label dependence and optimization of
/// macro-at-k metrics").
type Distribution = [[f64; 3]; 2];

const A: Distribution = [[0.4, 0.2, 0.6], [0.8, 0.4, 0.4]];
const B: Distribution = [[0.4, 0.2, 0.6], [0.8, 0.4, 0.8]];

/// All predictions of k = 2 labels.
const PAIRS: [[usize; 2]; 3] = [[0, 1], [0, 2], [1, 2]];

/// Returns the expected macro Jaccard similarity of the predictions for both instances.
fn macro_jaccard(marginals: &Distribution, predicted: [[usize; 2]; 2]) -> f64 {
    let jaccard = |label: usize| {
        let (mut tp, mut fp_and_fn) = (0.0, 0.0);
        for (row, chosen) in marginals.iter().zip(predicted) {
            match chosen.contains(&label) {
                true => (tp, fp_and_fn) = (tp + row[label], fp_and_fn + 1.0 - row[label]),
                false => fp_and_fn += row[label],
            }
        }
        tp / (tp + fp_and_fn)
    };
    (0..3).map(jaccard).sum::<f64>() / 3.0
}

/// Returns the best of all nine deterministic predictions.
fn exhaustive(marginals: &Distribution) -> (f64, [[usize; 2]; 2]) {
    let all = PAIRS.iter().flat_map(|&first| PAIRS.map(|second| [first, second]));
    let scored = all.map(|predicted| (macro_jaccard(marginals, predicted), predicted));
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
}

fn write_marginals(path: &Path, marginals: &Distribution) {
    let rows = marginals.map(|row| [(0, row[0]), (1, row[1]), (2, row[2])]);
    let rows: Vec<&[(i64, f64)]> = rows.iter().map(|row| &row[..]).collect();
    create(path, |file| Parts::new(3, &rows).write(file, "marginals"));
}

/// Fits macro-jaccard at 2 without labels; returns the utility and both predictions.
fn fit(marginals: &Distribution) -> (f64, [[usize; 2]; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_marginals(&folder.join("d.h5"), marginals);
    let args = "fit --marginals d.h5 -k 2 --metric macro-jaccard --out clf.h5 --json fit.json";
    macrok(folder, &args.split(' ').collect::<Vec<_>>()).ok();
    macrok(folder, &["predict", "clf.h5", "--marginals", "d.h5", "--out", "p.h5"]).ok();
    let facts = std::fs::read_to_string(folder.join("fit.json")).unwrap();
    let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
    let labels = integers(&folder.join("p.h5"), "predictions/indices");
    let label = |at: usize| labels[at] as usize;
    (facts["utility"].as_f64().unwrap(), [[label(0), label(1)], [label(2), label(3)]])
}

fn assert_found(marginals: &Distribution, utility: f64, predicted: [[usize; 2]; 2]) {
    let (best, best_predicted) = exhaustive(marginals);
    assert!((best - utility).abs() < 1e-6, "{best} is not the paper's {utility}");
    assert_eq!(best_predicted, predicted, "not what the paper prints");
    let (found, found_predicted) = fit(marginals);
    assert!((found - utility).abs() < 1e-6, "found {found}, but {utility} can be reached");
    assert_eq!(found_predicted, predicted);
}

#[test]
fn distribution_a_of_the_appendix_has_its_optimum() {
    assert_found(&A, 0.453968, [[0, 2], [0, 1]]);
}

#[test]
fn distribution_b_of_the_appendix_has_its_optimum() {
    assert_found(&B, 0.471429, [[1, 2], [0, 2]]);
}

#[test]
fn changing_a_label_of_one_instance_changes_other_labels_of_the_other() {
    let (a, b) = (exhaustive(&A).1, exhaustive(&B).1);
    assert_ne!(a[0], b[0], "the first instance is the same in both distributions");
}

/// Returns the predicted labels of all rows.
fn predicted(folder: &Path, classifier: &str, data: &str) -> Vec<i64> {
    macrok(folder, &["predict", classifier, "--marginals", data, "--out", "p.h5", "--force"]).ok();
    integers(&folder.join("p.h5"), "predictions/indices")
}

/// For metrics that are linear in the confusion tensor, Frank-Wolfe must end at the closed form.
fn closed_form_is_found(data: &str, metric: &str, ks: &[usize]) {
    let Some(data) = real_data(data) else { return };
    let data = text(&data);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for k in ks {
        let k = k.to_string();
        let inputs = ["--labels", data, "-k", &k, "--force", "--out"];
        macrok(folder, &[&["baseline", metric], &inputs[..], &["closed.h5"]].concat()).ok();
        macrok(
            folder,
            &[&["fit", "--metric", metric, "--marginals", data], &inputs[..], &["fit.h5"]].concat(),
        )
        .ok();
        let (closed, fitted) = (predicted(folder, "closed.h5", data), predicted(folder, "fit.h5", data));
        let differ = closed.iter().zip(&fitted).filter(|pair| pair.0 != pair.1).count();
        let all = closed.len();
        assert_eq!(differ, 0, "{metric} at {k}: {differ} of {all} labels differ from the closed form");
        assert_eq!(fitted.len(), all);
    }
}

#[test]
fn macro_recall_on_bibtex_is_its_closed_form() {
    closed_form_is_found("bibtex/train.h5", "macro-recall", &[1, 3, 5, 10]);
}

#[test]
fn macro_balanced_accuracy_on_bibtex_is_its_closed_form() {
    closed_form_is_found("bibtex/train.h5", "macro-balanced-accuracy", &[1, 3, 5, 10]);
}

#[test]
fn macro_recall_on_delicious_is_its_closed_form() {
    closed_form_is_found("delicious/train.h5", "macro-recall", &[1, 3, 5, 10]);
}

#[test]
fn macro_balanced_accuracy_on_delicious_is_its_closed_form() {
    closed_form_is_found("delicious/train.h5", "macro-balanced-accuracy", &[1, 3, 5, 10]);
}

#[test]
fn macro_recall_on_eurlex_is_its_closed_form() {
    closed_form_is_found("eurlex57k/dev.h5", "macro-recall", &[1, 5]);
}

#[test]
fn macro_balanced_accuracy_on_eurlex_is_its_closed_form() {
    closed_form_is_found("eurlex57k/dev.h5", "macro-balanced-accuracy", &[1, 5]);
}
