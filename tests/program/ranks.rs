//! Ranks under a real launcher: any number of them gives the same bits, and all end with one message when one fails.
#![cfg(feature = "mpi")]

use std::path::Path;
use std::time::Duration;

use crate::common::files::{Parts, assert_same_content, content, create, integers};
use crate::common::{Ran, launcher, macrok, many_labels, ranks, ranks_with, real_data, text};

/// Fits with labels, with expected labels, with a formula, and with many rules.
const FITS: [(&str, &str); 4] = [
    ("f1.h5", "--metric macro-f1 --labels DATA"),
    ("expected.h5", "--metric macro-precision"),
    ("formula.h5", "--metric 0.3*instance-precision+0.7*macro-f1 --labels DATA"),
    ("classic.h5", "--init random --step classic --labels DATA"),
];

/// Fits, predicts and evaluates on `data` in `folder`, using `run`.
fn work(folder: &Path, data: &str, iterations: &str, run: &mut dyn FnMut(&Path, &[&str]) -> Ran) {
    for (out, options) in FITS {
        let mut args = vec!["fit", "--marginals", data, "-k", "3", "--max-iters", iterations, "--out", out];
        args.extend(options.split(' ').map(|word| if word == "DATA" { data } else { word }));
        run(folder, &args).ok();
    }
    for sampling in ["rule", "madow"] {
        let out = format!("{sampling}.h5");
        let draw = ["--sampling", sampling, "--seed", "5"];
        run(folder, &[&["predict", "classic.h5", "--marginals", data, "--out", &out], &draw[..]].concat())
            .ok();
    }
    let args = ["evaluate", "classic.h5", "--marginals", data, "--labels", data, "--repeats", "3"];
    run(folder, &[&args[..], &["--json", "metrics.json"]].concat()).ok();
}

/// Returns the metrics, with all digits.
fn metrics(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("metrics.json")).unwrap();
    let facts: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(facts["metrics"]["macro-f1"]["mean"].is_f64(), "{text}");
    facts["metrics"].to_string()
}

fn assert_same_work(one: &Path, other: &Path) {
    for file in FITS.iter().map(|fit| fit.0).chain(["rule.h5", "madow.h5"]) {
        assert_same_content(&one.join(file), &other.join(file));
    }
    assert_eq!(metrics(one), metrics(other));
}

/// Compares the work of one process with that of several numbers of ranks and threads of each.
fn same_everywhere(synth: Option<&str>, data: &str, iterations: &str, spreads: &[(usize, usize)]) {
    if launcher().is_none() {
        return;
    }
    let make = synth.map(|options| format!("synth {data} {options}"));
    let make: Option<Vec<&str>> = make.as_ref().map(|line| line.split(' ').collect());
    let alone = tempfile::tempdir().unwrap();
    if let Some(make) = &make {
        macrok(alone.path(), make).ok();
    }
    work(alone.path(), data, iterations, &mut macrok);
    for &(count, threads) in spreads {
        let threads = threads.to_string();
        let mut run = |folder: &Path, args: &[&str]| {
            ranks(count, folder, &[args, &["--threads", &threads]].concat()).expect("a launcher")
        };
        let spread = tempfile::tempdir().unwrap();
        if let Some(make) = &make {
            run(spread.path(), make).ok();
            assert_same_content(&alone.path().join(data), &spread.path().join(data));
        }
        work(spread.path(), data, iterations, &mut run);
        assert_same_work(alone.path(), spread.path());
    }
}

#[test]
fn any_ranks_and_threads_give_the_same_bits_on_synthetic_data() {
    // More rows than a block, so that threads share them.
    let options = "--instances 5000 --labels 60 --features 40 --nnz 15 --seed 11";
    same_everywhere(Some(options), "data.h5", "6", &[(1, 2), (2, 1), (2, 2), (3, 1), (7, 1)]);
}

#[test]
fn any_number_of_ranks_gives_the_same_bits_on_bibtex() {
    if let Some(data) = real_data("bibtex/train.h5") {
        same_everywhere(None, text(&data), "4", &[(2, 2), (4, 1), (7, 1)]);
    }
}

/// Renumbering must not depend on the rows of a rank.
#[test]
fn any_ranks_and_threads_give_the_same_bits_on_many_labels() {
    for (labels, spreads) in [(70_123, &[(1, 2), (2, 2), (7, 1)][..]), (40_000, &[(1, 2), (3, 1)])] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("many.h5");
        many_labels::write(&data, 300, labels);
        same_everywhere(None, text(&data), "2", spreads);
    }
}

#[test]
fn all_ranks_stop_together_for_the_same_reason() {
    if launcher().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "data.h5", "--instances", "60"]).ok();
    let mut reasons = Vec::new();
    for options in ["--max-iters 1", "--tolerance 2", "--min-gain 1", "--min-gain 1e-2", "--step classic"] {
        let args = format!("fit --marginals data.h5 -k 2 --out clf.h5 --json fit.json --force {options}");
        let args: Vec<&str> = args.split(' ').collect();
        let stopped = || {
            let text = std::fs::read_to_string(folder.join("fit.json")).unwrap();
            serde_json::from_str::<serde_json::Value>(&text).unwrap()["stopped"].clone()
        };
        macrok(folder, &args).ok();
        let alone = stopped();
        ranks(2, folder, &args).expect("a launcher").ok();
        assert_eq!(stopped(), alone, "{options}");
        reasons.push(alone);
    }
    assert!(reasons.contains(&"iterations".into()) && reasons.contains(&"gap".into()), "{reasons:?}");
}

#[test]
fn ranks_without_rows_give_the_same_bits() {
    same_everywhere(
        Some("--instances 3 --labels 6 --nnz 5 --avg-labels 2"),
        "data.h5",
        "5",
        &[(2, 1), (7, 1)],
    );
}

#[test]
fn the_comparison_sees_a_mixture_whose_draws_differ() {
    // The tests above need more than one rule, and seeds that draw differently.
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let options = "synth data.h5 --instances 5000 --labels 60 --features 40 --nnz 15 --seed 11";
    macrok(folder, &options.split(' ').collect::<Vec<_>>()).ok();
    work(folder, "data.h5", "6", &mut macrok);
    let weights = hdf5::File::open(folder.join("classic.h5")).unwrap().dataset("weights").unwrap();
    assert!(weights.size() > 1, "one rule leaves nothing to draw");
    macrok(folder, &["predict", "classic.h5", "--marginals", "data.h5", "--out", "other.h5", "--seed", "6"])
        .ok();
    let drawn = |file: &str| integers(&folder.join(file), "predictions/indices");
    assert_ne!(drawn("rule.h5"), drawn("other.h5"));
    assert_ne!(content(&folder.join("rule.h5")), content(&folder.join("madow.h5")));
}

/// Writes nine rows of two labels, the last with an invalid probability.
fn write_bad_last_row(path: &Path) {
    let good: &[(i64, f64)] = &[(0, 0.5), (1, 0.25)];
    let bad: &[(i64, f64)] = &[(0, 0.5), (1, 1.5)];
    let rows: Vec<&[(i64, f64)]> = (0..9).map(|row| if row == 8 { bad } else { good }).collect();
    create(path, |file| Parts::new(2, &rows).write(file, "marginals"));
}

const FIT: [&str; 7] = ["fit", "--marginals", "data.h5", "-k", "1", "--out", "clf.h5"];

#[test]
fn an_error_on_the_last_rank_is_reported_once_and_ends_all() {
    let folder = tempfile::tempdir().unwrap();
    write_bad_last_row(&folder.path().join("data.h5"));
    let Some(ran) = ranks(3, folder.path(), &FIT) else { return };
    assert_eq!(ran.status, Some(2), "{ran}");
    assert_eq!(ran.errors().len(), 1, "{ran}");
    assert!(ran.errors()[0].contains("data.h5:marginals: row 8, column 1 is 1.5"), "{ran}");
    assert!(ran.took < Duration::from_secs(40), "{ran}");
    assert!(!folder.path().join("clf.h5").exists());
}

/// Runs a fit on three ranks, one of which has a `fault`.
fn misbehaving(fault: &str) -> Option<Ran> {
    let folder = tempfile::tempdir().unwrap();
    macrok(folder.path(), &["synth", "data.h5", "--instances", "30"]).ok();
    let ran = ranks_with(3, folder.path(), &FIT, &[("MACROK_TEST_FAULT", fault)], 30)?;
    assert!(ran.status.is_some_and(|status| status != 0), "{ran}");
    assert!(ran.took < Duration::from_secs(40), "{ran}");
    assert!(!folder.path().join("clf.h5").exists());
    Some(ran)
}

#[test]
fn a_panic_on_one_rank_ends_all() {
    let Some(ran) = misbehaving("panic@start:2") else { return };
    assert_eq!(ran.stderr.matches("internal error").count(), 1, "{ran}");
    assert_eq!(ran.stderr.matches("internal error on rank 2").count(), 1, "{ran}");
}

#[test]
fn an_error_on_one_rank_ends_all() {
    let Some(ran) = misbehaving("fail@start:1") else { return };
    assert_eq!(ran.errors().len(), 1, "{ran}");
}

#[test]
fn help_and_usage_errors_are_printed_by_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let Some(help) = ranks(3, folder.path(), &["fit", "--help"]) else { return };
    assert_eq!(help.ok().stdout.matches("Usage:").count(), 1);
    let Some(usage) = ranks(3, folder.path(), &["fit", "--nonsense"]) else { return };
    assert_eq!(usage.status, Some(2), "{usage}");
    assert_eq!(usage.stderr.matches("--nonsense").count(), 1, "{usage}");
}
