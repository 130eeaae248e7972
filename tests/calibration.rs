//! Whether marginals mean what they say, and what is done about it.

mod common;

use std::path::Path;

use common::files::{Parts, create};
use common::{macrok, on};
use serde_json::Value;

fn facts(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&macrok(folder, &[args, &["--json", "-"]].concat()).ok().stdout).unwrap()
}

/// Four rows of three labels; of each size of marginals some are right.
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
fn errors_and_curve_are_those_of_the_definition() {
    let folder = tempfile::tempdir().unwrap();
    write_small(&folder.path().join("d.h5"));
    let found = facts(folder.path(), &["inspect", "d.h5"])["calibration"].clone();
    let close = |name: &str, expected: f64| {
        let value = found[name].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-7, "{name} is {value}, not {expected}");
    };
    // By tenths: 0.95, 0.95, 1.0 with 2 of 3 right; 0.5 with 1 of 1; four small ones with 1 of 4.
    let small = 0.0004 + 0.0004 + 0.00075;
    close("error", ((2.9 - 2.0) + 0.5 + (1.0 - small)) / 8.0);
    // Every bin has at most one of eight, but two times two are equal.
    let equal_mass = (0.0 + (1.0 - 0.0008f64).abs() + 0.00075 + 0.5 + (1.9f64 - 1.0) + 0.0) / 8.0;
    close("error_equal_mass", equal_mass);
    // Of the curve: 0, 1e-4 to 5e-4, 5e-4 to 1e-3, 0.5 to 0.6, 0.9 to 1.
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
fn inspect_and_evaluate_say_the_same_on_any_number_of_ranks() {
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
    // Labels are drawn from these marginals: they are right, up to chance.
    assert!(inspected["error"].as_f64().unwrap() < 0.002, "{inspected}");
    assert!(inspected["error_relative"].as_f64().unwrap() < 0.05, "{inspected}");
}
