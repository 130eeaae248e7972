//! Random bytes never make the import panic, and every accepted matrix is valid.

use clap::ValueEnum;
use proptest::prelude::*;

use super::super::{Format, ImportOptions, Imported};
use super::zip::{csr, npy};
use super::{Files, rows};

fn check(imported: Imported) {
    for matrix in [imported.features, imported.labels, imported.marginals] {
        if matrix.is_some() {
            rows(&matrix);
        }
    }
}

/// Reads the bytes in every format; fails only by a panic or an invalid matrix.
fn try_all(bytes: &[u8]) {
    let files = Files::new();
    files.add("marginals", bytes).add("a.xml", bytes);
    files.add("a.arff", "@attribute a numeric\n@data\n1\n");
    for &format in Format::value_variants() {
        let options = ImportOptions { format, label_count: Some(1), clamp: true, ..ImportOptions::default() };
        if let Ok(imported) = files.import(&["marginals"], &options) {
            check(imported);
        }
    }
    let _ = files.import(&["a.arff", "a.xml"], &ImportOptions::default());
}

fn damaged(whole: &[u8], changes: &[(prop::sample::Index, u8)]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for (place, byte) in changes {
        let at = place.index(bytes.len());
        bytes[at] = *byte;
    }
    bytes
}

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    prop::collection::vec(any::<(prop::sample::Index, u8)>(), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        try_all(&bytes);
    }

    #[test]
    fn random_lines(text in "[0-3:,. \ne+-]{0,80}") {
        try_all(text.as_bytes());
        try_all(format!("2 3 4\n{text}").as_bytes());
        try_all(format!("2 3\n{text}").as_bytes());
    }

    #[test]
    fn random_arff(text in "[01?%@{}, '\"\\\\\na]{0,80}") {
        let header = "@attribute a numeric\n@attribute b {0,1}\n@data\n";
        try_all(format!("{header}{text}").as_bytes());
        try_all(format!("@attribute {text}").as_bytes());
    }

    #[test]
    fn damaged_archives(changes in changes()) {
        let whole = csr([2, 3], &[0, 2, 3], &[0, 2, 1], &[0.5, 1.0, 0.25]);
        try_all(&damaged(&whole, &changes));
    }

    #[test]
    fn damaged_arrays(changes in changes()) {
        let whole = npy("<f4", "(2, 3)", &[0; 24]);
        try_all(&damaged(&whole, &changes));
    }

    #[test]
    fn damaged_lists(changes in changes()) {
        let whole = b"<labels xmlns='u'>\n<label name='a'><label name='b'/></label></labels>";
        try_all(&damaged(whole, &changes));
    }

    /// Lines are read as written, in any order of the entries.
    #[test]
    fn lines_round_trip(
        table in prop::collection::vec(
            (
                prop::collection::btree_set(0u32..50, 0..5),
                prop::collection::btree_map(0u32..90, -1e30f32..1e30, 0..8),
            ),
            1..40,
        ),
    ) {
        let mut text = format!("{} 90 50\n", table.len());
        for (labels, features) in &table {
            let labels: Vec<String> = labels.iter().rev().map(u32::to_string).collect();
            text.push_str(&labels.join(","));
            for (feature, value) in features.iter().rev() {
                text.push_str(&format!(" {feature}:{value}"));
            }
            text.push('\n');
        }
        let got = super::read("a.txt", text);
        let labels: Vec<Vec<u32>> = table.iter().map(|row| row.0.iter().copied().collect()).collect();
        prop_assert_eq!(super::columns(&got.labels), labels);
        let features: Vec<Vec<(u32, f32)>> =
            table.iter().map(|row| row.1.iter().map(|(&f, &v)| (f, v)).collect()).collect();
        prop_assert_eq!(rows(&got.features), features);
    }
}
