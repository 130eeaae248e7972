//! Calibration: its measures agree with their definitions, and `train --calibrate` improves them.

use std::path::Path;

use crate::common::files::{Parts, assert_same_content, create};
use crate::common::{macrok, on, real_data, text};
use serde_json::Value;

fn facts(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&macrok(folder, &[args, &["--json", "-"]].concat()).ok().stdout).unwrap()
}

/// Writes four rows of three labels, with some positives among marginals of every size.
fn write_small(path: &Path) {
    let marginals: [&[(i64, f64)]; 4] = [
        &[(0, 0.95), (1, 0.0004)],
        &[(0, 0.95), (2, 0.0004)],
        &[(1, 0.5), (2, 0.00075)],
        &[(0, 1.0), (1, 0.0)],
    ];
    let labels: [&[(i64, f64)]; 4] = [&[(0, 1.0)], &[(2, 1.0)], &[(1, 1.0), (0, 1.0)], &[(0, 1.0)]];
    create(path, |file| {
        Parts::new(3, &marginals).write(file, "marginals");
        Parts::new(3, &labels).write(file, "labels");
    });
}

#[test]
fn errors_and_curve_agree_with_their_definitions() {
    let folder = tempfile::tempdir().unwrap();
    write_small(&folder.path().join("d.h5"));
    let found = facts(folder.path(), &["inspect", "d.h5"])["calibration"].clone();
    let close = |name: &str, expected: f64| {
        let value = found[name].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-7, "{name} is {value}, not {expected}");
    };
    // Bins of a tenth: 0.95, 0.95, 1.0 with 2 of 3 positive; 0.5 with 1 of 1; four small ones with 1 of 4.
    let small = 0.0004 + 0.0004 + 0.00075;
    close("error", ((2.9 - 2.0) + 0.5 + (1.0 - small)) / 8.0);
    // There are more bins than the eight entries, of which two pairs are equal.
    let equal_mass = (0.0 + (1.0 - 0.0008f64).abs() + 0.00075 + 0.5 + (1.9f64 - 1.0) + 0.0) / 8.0;
    close("error_equal_mass", equal_mass);
    // Bins of the curve: 0, 1e-4 to 5e-4, 5e-4 to 1e-3, 0.5 to 0.6, 0.9 to 1.
    close("error_relative", ((1.0 - 0.0008) + 0.00075 + 0.5 + (2.9 - 2.0)) / 4.0);
    close("mean_sum", (2.9 + 0.5 + small) / 4.0);
    close("recalled", 4.0 / 5.0);
    let curve: Vec<(f64, u64, f64)> = found["curve"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|bin| bin["entries"] != 0)
        .map(|bin| {
            (
                bin["low"].as_f64().unwrap(),
                bin["entries"].as_u64().unwrap(),
                bin["observed"].as_f64().unwrap(),
            )
        })
        .collect();
    assert_eq!(curve, [(0.0, 1, 0.0), (1e-4, 2, 0.5), (5e-4, 1, 0.0), (0.5, 1, 1.0), (0.9, 3, 2.0 / 3.0)]);
    assert_eq!(found["bins"].as_array().unwrap().len(), 10);
}

#[test]
fn inspect_and_evaluate_agree_on_any_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "d.h5", "--instances", "1500"]).ok();
    macrok(folder, &["baseline", "top-k", "--labels", "d.h5", "-k", "3", "--out", "top.h5"]).ok();
    let inspected = facts(folder, &["inspect", "d.h5"])["calibration"].clone();
    for count in [1, 2, 3, 4] {
        let args =
            ["evaluate", "top.h5", "--marginals", "d.h5", "--labels", "d.h5", "--json", "e.json", "--force"];
        let Some(ran) = on(count, folder, &args, &[]) else { return };
        let ran = ran.ok();
        assert!(ran.stdout.contains("expected calibration error"), "{ran}");
        assert!(ran.stdout.contains("0.9 to 1"), "{ran}");
        let text = std::fs::read_to_string(folder.join("e.json")).unwrap();
        let evaluated: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(evaluated["calibration"], inspected, "{count} ranks");
    }
    // Labels are drawn from these marginals, so only chance makes errors.
    assert!(inspected["error"].as_f64().unwrap() < 0.002, "{inspected}");
    assert!(inspected["error_relative"].as_f64().unwrap() < 0.05, "{inspected}");
}

/// Returns the calibration of a model's marginals on rows it was not trained on.
fn of_other_rows(folder: &Path, train: &str, test: &str, calibrate: &[&str]) -> Value {
    let args = ["train", train, "--estimator", "plt", "--seed", "1", "--out", "m.model", "--force"];
    macrok(folder, &[&args[..], calibrate].concat()).ok();
    macrok(folder, &["marginals", "m.model", test, "--out", "m.h5", "--force"]).ok();
    facts(folder, &["inspect", "m.h5"])["calibration"].clone()
}

#[test]
fn calibration_lowers_the_error_on_unseen_rows() {
    let (Some(train), Some(test)) = (real_data("bibtex/train.txt.gz"), real_data("bibtex/test.txt.gz"))
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (file, out) in [(train, "train.h5"), (test, "test.h5")] {
        macrok(folder, &["import", text(&file), "--out", out]).ok();
    }
    let before = of_other_rows(folder, "train.h5", "test.h5", &[]);
    let number = |found: &Value, name: &str| found[name].as_f64().unwrap();
    for method in ["isotonic", "platt"] {
        let after = of_other_rows(folder, "train.h5", "test.h5", &["--calibrate", method]);
        for name in ["error", "error_equal_mass", "error_relative"] {
            let (before, after) = (number(&before, name), number(&after, name));
            assert!(after < 0.5 * before, "{name} by {method}: {after} after, {before} before");
        }
    }
}

#[test]
fn calibration_is_the_same_on_any_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "d.h5", "--instances", "300", "--labels", "30", "--nnz", "15"]).ok();
    for method in ["isotonic", "platt"] {
        let train = |out: &'static str| {
            let args =
                ["train", "d.h5", "--estimator", "linear", "--calibrate", method, "--out", out, "--force"];
            [&args[..], &["--calibrate-share", "0.2"]].concat()
        };
        macrok(folder, &train("one.model")).ok();
        for count in [2, 3, 4] {
            let Some(ran) = on(count, folder, &train("other.model"), &[]) else { return };
            ran.ok();
            assert_same_content(&folder.join("one.model"), &folder.join("other.model"));
        }
        let found = facts(folder, &["inspect", "one.model"])["model"].clone();
        assert_eq!(found["options"]["calibrate"], method);
        assert_eq!(found["options"]["calibrate-share"], 0.2);
        assert_eq!(found["record"]["calibration"]["rows"], 60);
        assert_eq!(found["record"]["instances"], 240);
    }
}

/// Unlike for trees, the held-out rows are distributed over ranks.
#[test]
fn networks_are_calibrated() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "d.h5", "--instances", "300", "--labels", "30", "--nnz", "15"]).ok();
    let options = "--estimator mlp --hidden 128 --epochs 2 --validation 0 --calibrate isotonic --force";
    for count in [1, 2, 3] {
        let args: Vec<&str> =
            ["train", "d.h5", "--out", "m.model"].into_iter().chain(options.split(' ')).collect();
        let Some(ran) = on(count, folder, &args, &[]) else { return };
        ran.ok();
        let found = facts(folder, &["inspect", "m.model"])["model"]["record"]["calibration"].clone();
        assert_eq!((&found["rows"], &found["pairs"]), (&30.into(), &(30 * 30).into()), "{count} ranks");
        macrok(folder, &["marginals", "m.model", "d.h5", "--out", "m.h5", "--force"]).ok();
        let calibration = facts(folder, &["inspect", "m.h5"])["calibration"].clone();
        assert!(calibration["error_relative"].as_f64().unwrap() < 0.3, "{count} ranks: {calibration}");
    }
}

#[test]
fn a_training_with_another_calibration_cannot_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "d.h5", "--instances", "200"]).ok();
    let train = |more: &[&str]| {
        macrok(
            folder,
            &[&["train", "d.h5", "--estimator", "linear", "--out", "m.model", "--resume"], more].concat(),
        )
    };
    train(&["--calibrate", "platt"]).ok();
    train(&["--calibrate", "platt"]).ok();
    for more in [&["--calibrate", "isotonic"][..], &["--calibrate", "platt", "--calibrate-share", "0.3"], &[]]
    {
        let refused = train(more);
        assert_eq!(refused.status, Some(2), "{refused}");
        assert!(refused.errors()[0].contains("calibrate"), "{refused}");
    }
}

#[test]
fn impossible_calibrations_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "few.h5", "--instances", "3"]).ok();
    // One of forty rows has a label.
    let row: &[(i64, f64)] = &[(0, 1.0), (2, 0.5)];
    let mut labels: Vec<&[(i64, f64)]> = vec![&[]; 40];
    labels[7] = &[(1, 1.0)];
    create(&folder.join("rare.h5"), |file| {
        Parts::new(3, &[row; 40]).write(file, "features");
        Parts::new(2, &labels).write(file, "labels");
    });
    #[rustfmt::skip]
    let cases = [
        ("few.h5", "0", "--calibrate-share is 0, but must be a number above 0 and below 1"),
        ("few.h5", "1.5", "--calibrate-share is 1.5, but must be a number above 0 and below 1"),
        ("few.h5", "0.1", "--calibrate-share 0.1 of 3 rows leaves no rows to train on, or none to calibrate with"),
        ("rare.h5", "0.1", "held-out rows belong to true labels"),
    ];
    for (data, share, expected) in cases {
        let args =
            ["train", data, "--estimator", "linear", "--calibrate", "isotonic", "--calibrate-share", share];
        for count in [1, 2] {
            let Some(ran) = on(count, folder, &[&args[..], &["--out", "m.model"]].concat(), &[]) else {
                return;
            };
            assert_eq!((ran.status, ran.errors().len()), (Some(2), 1), "{ran}");
            assert!(ran.errors()[0].contains(expected), "{ran}");
            assert!(!folder.join("m.model").exists());
            let _ = std::fs::remove_file(folder.join("m.model.checkpoint"));
        }
    }
}
