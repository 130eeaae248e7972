//! Imports of published data sets: the sizes are those of the `.h5` files stored with them.

use crate::common::{macrok, real_data, text};

/// Checks rows, columns of the features and of the labels, and the number of positives.
fn check(file: &str, rows: usize, features: usize, labels: usize, positives: usize) {
    let Some(path) = real_data(file) else { return };
    let folder = tempfile::tempdir().unwrap();
    let args = ["import", text(&path), "--out", "data.h5", "--json", "facts.json"];
    let ran = macrok(folder.path(), &args).ok();
    assert!(ran.stdout.starts_with("features: "), "something was guessed or changed: {ran}");
    let facts = std::fs::read_to_string(folder.path().join("facts.json")).unwrap();
    let groups = serde_json::from_str::<serde_json::Value>(&facts).unwrap()["groups"].clone();
    let size = |group: &str| (groups[group]["rows"].as_u64(), groups[group]["columns"].as_u64());
    assert_eq!(size("features"), (Some(rows as u64), Some(features as u64)), "{file}");
    assert_eq!(size("labels"), (Some(rows as u64), Some(labels as u64)), "{file}");
    assert_eq!(groups["labels"]["entries"], positives, "{file}");
}

#[test]
fn bibtex_has_its_known_size() {
    check("bibtex/train.txt.gz", 4880, 1836, 159, 11616);
    check("bibtex/test.txt.gz", 2515, 1836, 159, 6146);
}

#[test]
fn delicious_has_its_known_size() {
    check("delicious/train.txt.gz", 12920, 500, 983, 246088);
    check("delicious/test.txt.gz", 3185, 500, 983, 60229);
}

#[test]
fn eurlex57k_has_its_known_size() {
    check("eurlex57k/dev.txt.gz", 6000, 30160, 4271, 30240);
    check("eurlex57k/test.txt.gz", 6000, 30160, 4271, 30356);
}
