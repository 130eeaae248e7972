//! Published data sets, where they are at hand. The counts are those of the `.h5` files beside them.

use std::path::Path;

use super::super::{ImportOptions, Input, import};
use super::sizes;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data");

fn check(file: &str, rows: usize, features: usize, labels: usize, relevant: usize) {
    let path = Path::new(DATA).join(file);
    if !path.exists() {
        eprintln!("skipped: {} is not here", path.display());
        return;
    }
    let inputs = [Input { path, group: None }];
    let got = import(&inputs, &ImportOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sizes(&got.features), (rows, features));
    assert_eq!(sizes(&got.labels), (rows, labels));
    assert_eq!(got.labels.unwrap().indices.len(), relevant);
    assert_eq!(got.notes, [""; 0]);
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
