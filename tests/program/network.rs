//! Networks do not depend on the number of threads, and are as good on any number of ranks; a killed training resumes; bad
//! input is refused.

use std::path::Path;

use crate::common::files::{Parts, assert_same_content, create};
use crate::common::jobs::Job;
use crate::common::{Ran, launcher, macrok, names, on, ranks};

const TRAIN: &str =
    "train data.h5 --estimator mlp --hidden 128 --batch 32 --learning-rate 0.01 --epochs 6 --patience 2";

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn prepare(folder: &Path) {
    macrok(folder, &words("synth data.h5 --instances 400 --labels 50 --features 60 --nnz 12")).ok();
}

fn has_ranks() -> bool {
    launcher().is_some()
}

/// Returns the mean loss of the last epoch, from the model file.
fn loss(folder: &Path, model: &str) -> f64 {
    macrok(folder, &["inspect", model, "--json", "facts.json", "--force"]).ok();
    let facts: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("facts.json")).unwrap()).unwrap();
    facts["model"]["record"]["loss"].as_f64().unwrap()
}

#[test]
fn any_number_of_threads_trains_the_same_model_for_a_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let mut losses = Vec::new();
    for count in if has_ranks() { vec![1, 2, 4] } else { vec![1] } {
        for (model, threads) in [("first.model", 1), ("again.model", 3)] {
            let train = format!("{TRAIN} --out {model} --threads {threads} --validation 0 --force");
            on(count, folder, &words(&train), &[]).unwrap().ok();
        }
        assert_same_content(&folder.join("first.model"), &folder.join("again.model"));
        losses.push(loss(folder, "first.model"));
    }
    // Batches depend on the number of ranks, so models differ, but they are equally good.
    assert!(losses.iter().all(|loss| (loss / losses[0] - 1.0).abs() < 0.05), "{losses:?}");
    macrok(folder, &words("marginals again.model data.h5 --keep 10 --out one.h5 --threads 1")).ok();
    for (count, threads) in [(1, 3), (if has_ranks() { 3 } else { 1 }, 1)] {
        let marginals =
            format!("marginals again.model data.h5 --keep 10 --out other.h5 --threads {threads} --force");
        on(count, folder, &words(&marginals), &[]).unwrap().ok();
        assert_same_content(&folder.join("one.h5"), &folder.join("other.h5"));
    }
}

#[test]
fn a_killed_training_resumes_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let count = if has_ranks() { 2 } else { 1 };
    let whole = format!("{TRAIN} --out whole.model --threads 1");
    let stdout = on(count, folder, &words(&whole), &[]).unwrap().ok().stdout;
    let epochs = stdout.lines().filter(|line| line.ends_with('s') && line.starts_with("    ")).count();
    let train = format!("{TRAIN} --out again.model --threads 1");
    // During the training judged by held-out rows, and during the final one on all rows.
    for unit in [2, epochs - 1] {
        let fault = format!("kill@unit#{unit}:{}", count - 1);
        let variables = [("MACROK_TEST_FAULT", fault.as_str()), ("MACROK_TEST_FLUSH", "1")];
        let killed = Job::start(count, folder, &words(&train), &variables).expect("a launcher").end();
        assert!(killed.status.is_some_and(|status| status > 1), "it was not killed:\n{killed}");
        assert!(!folder.join("again.model").exists());
        let other = macrok(folder, &words(&format!("{train} --resume --dropout 0.1")));
        assert!(other.stderr.contains("made with dropout = 0.5, but this run has dropout = 0.1"), "{other}");
        let resumed = on(count, folder, &words(&format!("{train} --resume")), &[]).unwrap().ok();
        assert!(resumed.stdout.contains(&format!("resuming after epoch {unit}\n")), "{resumed}");
        assert_same_content(&folder.join("whole.model"), &folder.join("again.model"));
        std::fs::remove_file(folder.join("again.model")).unwrap();
    }
    assert_eq!(names(folder), ["data.h5", "whole.model"]);
}

#[test]
fn a_signal_stops_a_training_after_an_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let train = format!("{TRAIN} --out a.model");
    let slow = [("MACROK_TEST_FAULT", "sleep=300@unit:0")];
    let mut job = Job::start(1, folder, &words(&train), &slow).unwrap();
    job.when("a checkpoint", || folder.join("a.model.checkpoint").exists());
    job.signal(0, "TERM");
    let stopped = job.end();
    assert_eq!(stopped.status, Some(75), "{stopped}");
    assert!(stopped.stderr.contains("macrok: SIGTERM: stopped after epoch "), "{stopped}");
    macrok(folder, &words(&format!("{train} --resume"))).ok();
}

#[test]
fn a_search_tries_layers_and_rates_and_trains_the_best_on_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &words("synth data.h5 --instances 120 --labels 12 --features 30 --nnz 6")).ok();
    let train = "train data.h5 --estimator mlp --hidden 128 --epochs 2 --search --out a.model";
    let ran = macrok(folder, &words(train)).ok();
    let tried = ran.stdout.lines().filter(|line| line.starts_with("trying 30-")).count();
    assert_eq!(tried, 8, "{ran}");
    assert!(ran.stdout.contains("on all rows for "), "{ran}");
}

const ROWS: [&[(i64, f64)]; 5] =
    [&[(0, 1.0), (1, 0.5)], &[(1, 2.0)], &[(0, 0.5), (2, 1.0)], &[(2, 3.0)], &[(0, 1.0)]];
const LABELS: [&[(i64, f64)]; 5] =
    [&[(0, 1.0)], &[(1, 1.0)], &[(0, 1.0), (1, 1.0)], &[(1, 1.0)], &[(0, 1.0)]];

fn write(folder: &Path, features: &Parts, labels: &Parts) {
    create(&folder.join("d.h5"), |file| {
        features.write(file, "features");
        labels.write(file, "labels");
    });
}

fn attempt(features: Parts, labels: Parts, options: &str) -> (tempfile::TempDir, Ran) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &features, &labels);
    let train = format!("train d.h5 --out a.model --estimator mlp --hidden 128 --epochs 2 {options}");
    let ran = macrok(folder.path(), &words(&train));
    (folder, ran)
}

#[track_caller]
fn refused(change: impl FnOnce(&mut Parts, &mut Parts), options: &str, says: &str) {
    let (mut features, mut labels) = (Parts::new(3, &ROWS), Parts::new(2, &LABELS));
    change(&mut features, &mut labels);
    let (folder, ran) = attempt(features, labels, options);
    assert_eq!(ran.status, Some(2), "{ran}");
    assert_eq!(ran.errors().len(), 1, "{ran}");
    assert!(ran.stderr.contains(says), "wanted {says:?}: {ran}");
    assert_eq!(names(folder.path()), ["d.h5"], "nothing is left behind");
}

#[test]
fn impossible_trainings_are_refused() {
    refused(|_, labels| *labels = Parts::new(2, &[&[][..]; 5]), "", "d.h5:labels: no row has a label");
    refused(|features, _| features.data[1] = f64::NAN, "", "row 0, column 1 is NaN, which is not a finite");
    refused(|_, _| (), "--validation 0.000001", "holds out 0 of 5 rows: expected some, but not all");
    let checked = [
        ("--loss hinge", "--loss is hinge, but must be one of bce, focal, asymmetric"),
        ("--dropout 1", "--dropout is 1, but must be a number from 0 to 0.9"),
        ("--learning-rate 0", "--learning-rate is 0, but must be a number above 0 and at most 1"),
        ("--batch 0", "--batch is 0, but must be a whole number from 1 to 1048576"),
        ("--validation 0 --search", "--search needs held-out rows"),
    ];
    for (options, says) in checked {
        let folder = tempfile::tempdir().unwrap();
        let ran =
            macrok(folder.path(), &words(&format!("train d.h5 --out a.model --estimator mlp {options}")));
        assert_eq!(ran.status, Some(2), "{ran}");
        assert!(ran.stderr.contains(says), "wanted {says:?}: {ran}");
    }
    for (hidden, says) in [
        ("64", "--hidden is 64, but must be a whole number from 128 to 2048"),
        ("512,4096", "--hidden is 4096, but must be a whole number from 128 to 2048"),
        ("128,128,128,128", "--hidden has 4 layers, but there must be 1 to 3"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let ran = macrok(
            folder.path(),
            &["train", "d.h5", "--out", "a.model", "--estimator", "mlp", "--hidden", hidden],
        );
        assert!(ran.status == Some(2) && ran.stderr.contains(says), "wanted {says:?}: {ran}");
    }
}

#[test]
fn a_diverging_network_is_reported() {
    let huge: Vec<Vec<(i64, f64)>> = (0..5).map(|_| vec![(0, 3e38), (1, 3e38)]).collect();
    let huge: Vec<&[(i64, f64)]> = huge.iter().map(Vec::as_slice).collect();
    refused(
        |features, _| *features = Parts::new(3, &huge),
        "--validation 0",
        "pass a smaller --learning-rate",
    );
}

#[test]
fn degenerate_data_can_be_trained_on() {
    let cases = [
        ("one label", Parts::new(3, &ROWS), Parts::new(1, &[&[(0, 1.0)], &[], &[(0, 1.0)], &[], &[]])),
        ("a label without positive", Parts::new(3, &ROWS), Parts::new(3, &LABELS)),
        (
            "rows without features",
            Parts::new(3, &[&[(0, 1.0)], &[], &[(1, 1.0)], &[], &[]]),
            Parts::new(2, &LABELS),
        ),
        ("constant features", Parts::new(1, &[&[(0, 7.0)][..]; 5]), Parts::new(2, &LABELS)),
    ];
    for (name, features, labels) in cases {
        for loss in ["bce", "focal", "asymmetric"] {
            let (folder, ran) =
                attempt(features.clone(), labels.clone(), &format!("--validation 0 --loss {loss}"));
            assert_eq!(ran.status, Some(0), "{name}, {loss}: {ran}");
            let asked = macrok(folder.path(), &words("marginals a.model d.h5 --out m.h5")).ok();
            let all = 5 * labels.shape[1];
            assert!(
                asked.stdout.contains(&format!("{all} marginals of 5 instances")),
                "{name}, {loss}: {asked}"
            );
        }
    }
}

#[test]
fn more_ranks_than_rows_can_train() {
    if !has_ranks() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Parts::new(3, &ROWS), &Parts::new(2, &LABELS));
    let train = "train d.h5 --estimator mlp --hidden 128 --epochs 2 --validation 0 --threads 1 --out a.model";
    ranks(7, folder.path(), &words(train)).unwrap().ok();
    ranks(7, folder.path(), &words("marginals a.model d.h5 --out m.h5 --threads 1")).unwrap().ok();
}
