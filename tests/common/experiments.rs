//! Runs of job files and their results.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Ran, macrok};

/// A job on a small synthetic problem.
pub const SMALL: &str = r#"
k = [1, 3]
metrics = ["macro-f1", "0.5*macro-recall + 0.5*instance-precision"]
strategies = ["top-k", "frank-wolfe", "power-law"]
targets = ["labels", "expected"]

[synth]
labels = 40
nnz = 12
avg-labels = 3.0
features = 30

[data.fit.synth]
instances = 300

[data.test.synth]
instances = 200
first-row = 300

[fit]
max-iters = 6

[evaluate]
repeats = 3
"#;

/// The number of job steps of [`SMALL`]: two samples, and for each k six classifiers, each fitted and evaluated.
pub const SMALL_STEPS: usize = 2 + 2 * 6 * 2;

pub fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

/// Runs a job in one process, with `out` as its results folder.
pub fn run(folder: &Path, job: &str, more: &[&str]) -> Ran {
    macrok(folder, &[&["run", job, "--out", "out"], more].concat())
}

/// Returns the state of every job step.
pub fn states(folder: &Path, job: &str) -> BTreeMap<String, String> {
    let ran = run(folder, job, &["--list", "--json", "-"]).ok();
    let facts: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let steps = facts["steps"].as_array().unwrap().iter();
    steps.map(|step| (text(&step["step"]), text(&step["state"]))).collect()
}

/// Returns the job steps that are not done.
pub fn to_do(folder: &Path, job: &str) -> BTreeMap<String, String> {
    states(folder, job).into_iter().filter(|(_, state)| state != "done").collect()
}

pub fn results(folder: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join("out/results.json")).unwrap()).unwrap()
}

/// Returns the contents of all result files.
pub fn result_files(folder: &Path) -> Vec<String> {
    let read = |ending| std::fs::read_to_string(folder.join(format!("out/results.{ending}"))).unwrap();
    ["json", "csv", "md"].map(read).into()
}
