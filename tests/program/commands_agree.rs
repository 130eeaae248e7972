//! Different commands for the same fact agree, and no command damages other files.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::common::{macrok, output};

fn run(folder: &Path, command: &str) -> crate::common::Ran {
    macrok(folder, &command.split(' ').collect::<Vec<_>>())
}

fn metrics(folder: &Path, command: &str) -> serde_json::Value {
    let ran = run(folder, &format!("{command} --json -")).ok();
    serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()["metrics"].clone()
}

/// A predictions file stores all of a draw that evaluation needs: labels and their order.
#[test]
fn evaluating_a_predictions_file_equals_evaluating_its_draw() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Rows with fewer than k entries, and a metric whose classifier is a mixture.
    run(folder, "synth d.h5 --instances 400 --labels 60 --nnz 4 --avg-labels 1.5").ok();
    for candidates in ["all", "support"] {
        let fit = "fit --marginals d.h5 --labels d.h5 -k 5 --metric macro-precision --out c.h5 --force";
        run(folder, &format!("{fit} --candidates {candidates}")).ok();
        for sampling in ["rule", "madow"] {
            let draw = format!("--sampling {sampling} --seed 3");
            let direct =
                metrics(folder, &format!("evaluate c.h5 --marginals d.h5 --labels d.h5 --repeats 1 {draw}"));
            run(folder, &format!("predict c.h5 --marginals d.h5 --out p.h5 --force {draw}")).ok();
            let stored = metrics(folder, "evaluate --predictions p.h5 --labels d.h5 --train-labels d.h5");
            assert_eq!(direct, stored, "{candidates}, {sampling}");
        }
    }
}

#[test]
fn a_fit_reports_the_utility_that_evaluate_expected_finds() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(folder, "synth d.h5").ok();
    let fit = "fit --marginals d.h5 --labels d.h5 -k 3 --metric macro-precision --out c.h5 --json f.json";
    run(folder, fit).ok();
    let facts: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("f.json")).unwrap()).unwrap();
    let found = metrics(folder, "evaluate c.h5 --marginals d.h5 --labels d.h5 --expected");
    let (utility, expected) = (facts["utility"].as_f64().unwrap(), &found["macro-precision"]["mean"]);
    assert!((utility - expected.as_f64().unwrap()).abs() < 1e-12, "{utility} and {expected}");
}

#[test]
fn an_output_is_never_an_input_or_the_json_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(folder, "synth d.h5").ok();
    run(folder, "baseline top-k --labels d.h5 -k 3 --out c.h5").ok();
    let before = std::fs::read(folder.join("d.h5")).unwrap();
    for command in [
        "predict c.h5 --marginals d.h5 --out d.h5 --force",
        "baseline top-k --labels d.h5 -k 3 --out ./d.h5 --force",
        "fit --marginals d.h5 --labels d.h5 -k 3 --out d.h5 --force",
        "baseline top-k --labels d.h5 -k 3 --out x.h5 --json x.h5 --force",
    ] {
        let ran = run(folder, command);
        assert_eq!(ran.status, Some(2), "{ran}");
        assert_eq!(ran.errors().len(), 1, "{ran}");
    }
    assert_eq!(std::fs::read(folder.join("d.h5")).unwrap(), before);
    assert!(!folder.join("x.h5").exists());
}

#[test]
fn links_are_followed_and_pipes_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(folder, "synth d.h5").ok();
    std::os::unix::fs::symlink("real.h5", folder.join("link.h5")).unwrap();
    let write = "baseline top-k --labels d.h5 -k 3 --out link.h5";
    assert_eq!(run(folder, write).status, Some(2), "a dangling link exists");
    std::fs::write(folder.join("real.h5"), "old").unwrap();
    run(folder, &format!("{write} --force")).ok();
    assert!(folder.join("link.h5").is_symlink());
    assert!(std::fs::read(folder.join("real.h5")).unwrap().starts_with(b"\x89HDF"));

    let made = output(std::process::Command::new("mkfifo").arg(folder.join("pipe"))).unwrap();
    assert!(made.status.success());
    let ran = run(folder, "baseline top-k --labels d.h5 -k 3 --out pipe --force");
    assert_eq!(ran.status, Some(2), "{ran}");
    assert!(folder.join("pipe").metadata().unwrap().file_type().is_fifo());
}

#[test]
fn out_of_range_numbers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(folder, "synth d.h5").ok();
    for command in [
        "synth x.h5 --first-row 18446744073709551615",
        "synth x.h5 --instances 18446744073709551615",
        "synth x.h5 --instances 4000000000000",
        "baseline propensity --labels d.h5 -k 3 --propensity-a 1000 --out x.h5",
        "evaluate --predictions d.h5:labels --labels d.h5 --propensity-b nan",
        "fit --marginals d.h5 -k 1 --metric macro-f1/(k-1) --out x.h5",
        "fit --marginals d.h5 -k 1 --epsilon 0 --out x.h5",
        "inspect .",
    ] {
        let ran = run(folder, command);
        assert_eq!(ran.status, Some(2), "{ran}");
        assert_eq!(ran.errors().len(), 1, "{ran}");
        assert!(!folder.join("x.h5").exists(), "{ran}");
    }
}

#[test]
fn evaluate_prints_each_number_once_and_no_deviation_of_one_rule() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(folder, "synth d.h5 --instances 300 --labels 20").ok();
    let fit = "fit --marginals d.h5 --labels d.h5 -k 3 --metric";
    run(folder, &format!("{fit} macro-recall --out one.h5")).ok();
    run(folder, &format!("{fit} macro-precision --out several.h5")).ok();
    let table = |classifier: &str| {
        run(folder, &format!("evaluate {classifier} --marginals d.h5 --labels d.h5")).ok().stdout
    };
    let (one, several) = (table("one.h5"), table("several.h5"));
    assert!(one.contains("one deterministic prediction") && !one.contains("deviation"), "{one}");
    assert!(several.contains("deviation"), "{several}");
    for text in [one, several] {
        assert!(text.contains("instance-precision = micro-precision"), "{text}");
        assert_eq!(text.matches("micro-precision").count(), 1, "{text}");
    }
}
