//! Training and marginals do not depend on ranks and threads, a killed training resumes, and bad input is refused.

use std::fs;
use std::path::Path;

use crate::common::files::{Parts, assert_same_content, change, content, create, set_text};
use crate::common::jobs::Job;
use crate::common::{Ran, launcher, macrok, names, ranks};

/// A tree of several levels, trained in some dozen units.
const TREE: &str = "train data.h5 --estimator plt --leaf-size 8 --threshold 0.01";

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn prepare(folder: &Path) {
    macrok(folder, &words("synth data.h5 --instances 400 --labels 120 --features 80 --nnz 20")).ok();
}

fn has_ranks() -> bool {
    launcher().is_some()
}

#[test]
fn the_model_and_its_marginals_are_the_same_on_any_number_of_ranks_and_threads() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    for train in [TREE.to_owned(), TREE.replace("plt", "plt --trees 2"), TREE.replace("plt", "linear")] {
        macrok(folder, &words(&format!("{train} --out one.model --threads 1 --force"))).ok();
        macrok(folder, &words("marginals one.model data.h5 --keep 30 --out one.h5 --threads 1 --force")).ok();
        macrok(folder, &words(&format!("{train} --out threads.model --threads 3 --force"))).ok();
        assert_same_content(&folder.join("one.model"), &folder.join("threads.model"));
        for count in if has_ranks() { vec![2, 4] } else { vec![] } {
            let train = format!("{train} --out ranks.model --threads 1 --force");
            ranks(count, folder, &words(&train)).unwrap().ok();
            assert_same_content(&folder.join("one.model"), &folder.join("ranks.model"));
            let marginals = "marginals ranks.model data.h5 --keep 30 --out ranks.h5 --force";
            ranks(count, folder, &words(marginals)).unwrap().ok();
            assert_same_content(&folder.join("one.h5"), &folder.join("ranks.h5"));
        }
    }
}

#[test]
fn a_killed_training_resumes_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    macrok(folder, &words(&format!("{TREE} --out whole.model"))).ok();
    let count = if has_ranks() { 2 } else { 1 };
    let train = format!("{TREE} --out again.model --threads 1");
    let variables = [("MACROK_TEST_FAULT", "kill@unit#3:0"), ("MACROK_TEST_FLUSH", "1")];
    let killed = Job::start(count, folder, &words(&train), &variables).expect("a launcher").end();
    assert!(killed.status.is_some_and(|status| status > 1), "it was not killed:\n{killed}");
    assert!(!folder.join("again.model").exists());
    // Resuming needs --resume and the same options.
    let refused = macrok(folder, &words(&train));
    assert_eq!(refused.status, Some(2), "{refused}");
    assert!(refused.stderr.contains("pass --resume to continue it"), "{refused}");
    let other = macrok(folder, &words(&format!("{train} --resume --cost 3")));
    assert!(other.stderr.contains("made with cost = 10.0, but this run has cost = 3.0"), "{other}");
    let resumed = macrok(folder, &words(&format!("{train} --resume"))).ok();
    assert!(resumed.stdout.contains("resuming after "), "{resumed}");
    assert_same_content(&folder.join("whole.model"), &folder.join("again.model"));
    assert_eq!(names(folder), ["again.model", "data.h5", "whole.model"]);
    let complete = macrok(folder, &words(&format!("{train} --resume"))).ok();
    assert!(complete.stdout.contains("nothing left to do"), "{complete}");
}

#[test]
fn a_training_stopped_by_a_signal_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    macrok(folder, &words(&format!("{TREE} --out whole.model"))).ok();
    let train = format!("{TREE} --out again.model");
    let slow = [("MACROK_TEST_FAULT", "sleep=300@unit:0")];
    let mut job = Job::start(1, folder, &words(&train), &slow).unwrap();
    job.when("a checkpoint", || folder.join("again.model.checkpoint").exists());
    job.signal(0, "TERM");
    let stopped = job.end();
    assert_eq!(stopped.status, Some(75), "{stopped}");
    assert!(stopped.stderr.contains("macrok: SIGTERM: stopped after "), "{stopped}");
    assert!(stopped.stderr.contains("saved in again.model.checkpoint; to resume"), "{stopped}");
    macrok(folder, &words(&format!("{train} --resume"))).ok();
    assert_same_content(&folder.join("whole.model"), &folder.join("again.model"));
}

#[test]
fn marginals_are_written_with_the_labels() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    macrok(folder, &words(&format!("{TREE} --out a.model"))).ok();
    macrok(folder, &words("marginals a.model data.h5 --keep 10 --out m.h5")).ok();
    let (data, marginals) = (content(&folder.join("data.h5")), content(&folder.join("m.h5")));
    for part in ["/labels/indices", "/labels/indptr", "/labels/data"] {
        assert_eq!(data[part], marginals[part], "{part}");
    }
    macrok(folder, &words("fit --marginals m.h5 --labels m.h5 -k 3 --out clf.h5")).ok();
    let inspected = macrok(folder, &words("inspect a.model")).ok();
    for part in ["model 'plt'", "80 features, 120 labels", "leaf-size 8", "forest/weights/data"] {
        assert!(inspected.stdout.contains(part), "{part}: {inspected}");
    }
}

/// Five rows, three features, two labels.
struct Data {
    features: Parts,
    labels: Parts,
}

fn good() -> Data {
    Data {
        features: Parts::new(
            3,
            &[&[(0, 1.0), (1, 0.5)], &[(1, 2.0)], &[(0, 0.5), (2, 1.0)], &[(2, 3.0)], &[(0, 1.0)]],
        ),
        labels: Parts::new(2, &[&[(0, 1.0)], &[(1, 1.0)], &[(0, 1.0), (1, 1.0)], &[(1, 1.0)], &[(0, 1.0)]]),
    }
}

fn write(folder: &Path, change: fn(&mut Data)) {
    let mut data = good();
    change(&mut data);
    create(&folder.join("d.h5"), |file| {
        data.features.write(file, "features");
        data.labels.write(file, "labels");
    });
}

fn attempt(change: fn(&mut Data), options: &str) -> (tempfile::TempDir, Ran) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), change);
    let ran = macrok(folder.path(), &words(&format!("train d.h5 --out a.model {options}")));
    (folder, ran)
}

#[track_caller]
fn refused(change: fn(&mut Data), options: &str, says: &str) {
    let (folder, ran) = attempt(change, options);
    assert_eq!(ran.status, Some(2), "{ran}");
    assert_eq!(ran.errors().len(), 1, "{ran}");
    assert!(ran.stderr.contains(says), "wanted {says:?}: {ran}");
    assert_eq!(names(folder.path()), ["d.h5"], "nothing is left behind");
}

#[test]
fn impossible_trainings_are_refused() {
    let plt = "--estimator plt";
    refused(|d| d.labels = Parts::new(2, &[&[][..]; 5]), plt, "d.h5:labels: no row has a label");
    refused(
        |d| d.features.data[1] = f64::NAN,
        plt,
        "d.h5:features: row 0, column 1 is NaN, which is not a finite",
    );
    refused(
        |d| d.labels = Parts::new(2, &[&[][..]; 4]),
        plt,
        "d.h5:features has 5 rows but d.h5:labels has 4",
    );
    refused(|d| d.labels.data[0] = 2.0, plt, "d.h5:labels: row 0, column 0 is 2, but a label is 0 or 1");
    refused(|_| (), "--estimator plt --labels no.h5", "no.h5: no such file");
    refused(|_| (), "--estimator plt --arity 1", "--arity is 1, but must be a whole number from 2 to");
    refused(|_| (), "--estimator plt --cost 0", "--cost is 0, but must be a number above 0 and finite");
    refused(
        |_| (),
        "--estimator linear --tolerance nan",
        "--tolerance is nan, but must be a number above 0 and finite",
    );
}

#[test]
fn a_file_without_labels_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    create(&folder.path().join("d.h5"), |file| good().features.write(file, "features"));
    let ran = macrok(folder.path(), &words("train d.h5 --estimator plt --out a.model"));
    assert_eq!(ran.status, Some(2), "{ran}");
    assert!(ran.stderr.contains("d.h5: no group 'labels'; the file has features"), "{ran}");
}

/// Returns row and label of the stored marginals on the training rows.
fn stored(folder: &Path) -> Vec<(usize, i64)> {
    macrok(folder, &words("marginals a.model d.h5 --keep 9 --out m.h5 --force")).ok();
    let file = hdf5::File::open(folder.join("m.h5")).unwrap();
    let read = |name: &str| file.dataset(name).unwrap().read_raw::<i64>().unwrap();
    let (starts, labels) = (read("marginals/indptr"), read("marginals/indices"));
    let values: Vec<f32> = file.dataset("marginals/data").unwrap().read_raw().unwrap();
    assert!(values.iter().all(|&value| value > 0.0 && value <= 1.0), "{values:?}");
    let row_of = |at: usize| starts.iter().rposition(|&start| start as usize <= at).unwrap();
    labels.iter().enumerate().map(|(at, &label)| (row_of(at), label)).collect()
}

#[test]
fn degenerate_data_can_be_trained_on() {
    type Change = fn(&mut Data);
    let cases: [(&str, Change, usize); 5] = [
        ("one label", |d| d.labels = Parts::new(1, &[&[(0, 1.0)], &[], &[(0, 1.0)], &[], &[]]), 5),
        ("a label without positive", |d| d.labels.shape[1] = 3, 10),
        ("rows without labels", |d| d.labels = Parts::new(2, &[&[(0, 1.0)], &[], &[(1, 1.0)], &[], &[]]), 10),
        (
            "a row without features",
            |d| d.features = Parts::new(3, &[&[(0, 1.0)], &[], &[(1, 1.0)], &[], &[]]),
            10,
        ),
        ("constant features", |d| d.features = Parts::new(1, &[&[(0, 7.0)][..]; 5]), 10),
    ];
    for (name, change, entries) in cases {
        for estimator in ["plt", "linear"] {
            let (folder, ran) = attempt(change, &format!("--estimator {estimator}"));
            let ran = ran.ok();
            let stored = stored(folder.path());
            assert_eq!(stored.len(), entries, "{name}, {estimator}: {stored:?}");
            if name == "a label without positive" {
                assert!(ran.stdout.contains("labels without a positive instance: 1 of 3"), "{ran}");
                assert!(stored.iter().all(|&(_, label)| label < 2), "its marginal is 0: {stored:?}");
            }
        }
    }
}

#[test]
fn more_ranks_than_nodes_train_the_same_model() {
    let (folder, ran) = attempt(|_| (), "--estimator plt");
    ran.ok();
    if !has_ranks() {
        return;
    }
    ranks(4, folder.path(), &words("train d.h5 --estimator plt --out many.model")).unwrap().ok();
    assert_same_content(&folder.path().join("a.model"), &folder.path().join("many.model"));
    ranks(4, folder.path(), &words("marginals many.model d.h5 --out m.h5")).unwrap().ok();
}

#[test]
fn a_model_for_other_data_is_refused() {
    let (folder, ran) = attempt(|_| (), "--estimator plt");
    ran.ok();
    let folder = folder.path();
    let refused = |command: &str, says: &str| {
        let ran = macrok(folder, &words(command));
        assert_eq!(ran.status, Some(2), "{ran}");
        assert!(ran.stderr.contains(says), "wanted {says:?}: {ran}");
    };
    let other = Parts::new(4, &[&[(3, 1.0)]]);
    create(&folder.join("wide.h5"), |file| other.write(file, "features"));
    refused(
        "marginals a.model wide.h5 --out m.h5",
        "wide.h5:features: 4 features, but a.model was trained on 3",
    );
    let labels = Parts::new(3, &[&[(2, 1.0)]]);
    create(&folder.join("labels.h5"), |file| {
        Parts::new(3, &[&[(1, 1.0)]]).write(file, "features");
        labels.write(file, "labels");
    });
    refused("marginals a.model labels.h5 --out m.h5", "the model is for 2 labels, but labels.h5 has 3");
    refused("marginals d.h5 d.h5 --out m.h5", "d.h5: is a data file (features, labels); expected a model");
    refused(
        "marginals a.model d.h5 --keep 0 --out m.h5",
        "--keep is 0, but must be a whole number of at least 1",
    );
    // A later version might write other kinds.
    fs::copy(folder.join("a.model"), folder.join("b.model")).unwrap();
    change(&folder.join("b.model"), |file| {
        file.delete_attr("estimator").unwrap();
        set_text(file, "estimator", "oracle");
    });
    refused(
        "marginals b.model d.h5 --out m.h5",
        "b.model: unknown estimator 'oracle': expected plt, linear or mlp",
    );
}
