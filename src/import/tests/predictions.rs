//! Tests of predictions as text.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::super::ImportOptions;
use super::zip::csr;
use super::{Files, format, rows, sizes};

/// Text as napkinXC prints it: largest score first, a blank at the end of each line.
const TEXT: &str = "3:0.75 0:0.5 \n\n2:1e-05 1:0.25 \n";

fn imported(text: &str, options: &ImportOptions) -> super::Imported {
    let files = Files::new();
    files.add("p", text).import(&["marginals=p"], options).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(text: &str) -> String {
    let files = Files::new();
    files.add("p", text).error(&["marginals=p"], &ImportOptions::default())
}

fn labels(count: usize) -> ImportOptions {
    ImportOptions { label_count: Some(count), ..ImportOptions::default() }
}

#[test]
fn a_line_is_a_row_of_labels_and_scores() {
    let got = imported(TEXT, &labels(6));
    assert_eq!(sizes(&got.marginals), (3, 6));
    assert_eq!(rows(&got.marginals), [vec![(0, 0.5), (3, 0.75)], vec![], vec![(1, 0.25), (2, 1e-5)]]);
    assert_eq!((got.features, got.labels), (None, None));
    assert!(got.notes[0].ends_with("empty lines, which are rows without marginals: 1"), "{:?}", got.notes);
}

#[test]
fn gzip_and_line_ends_make_no_difference() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(TEXT.as_bytes()).unwrap();
    let files = Files::new();
    files.add("p", TEXT).add("p.txt.gz", encoder.finish().unwrap()).add("q", TEXT.replace('\n', "\r\n"));
    let read = |name: &str| files.import(&[name], &labels(4)).unwrap().marginals;
    assert_eq!(read("marginals=p.txt.gz"), read("marginals=p"));
    assert_eq!(read("marginals=q"), read("marginals=p"));
}

#[test]
fn takes_the_number_of_labels_from_imported_labels() {
    let files = Files::new();
    files.add("p", TEXT).add("y.txt", "3 1 9\n0\n1\n8\n").add("few.txt", "3 1 2\n0\n1\n1\n");
    files.add("y.svm", "0 1:1\n6 1:1\n1 1:1\n").add("y.npz", csr([3, 5], &[0, 1, 1, 1], &[4], &[1.0]));
    for (along, columns) in [("labels=y.txt", 9), ("labels=y.svm", 7), ("y.npz", 5)] {
        for inputs in [[along, "marginals=p"], ["marginals=p", along]] {
            let got = files.import(&inputs, &ImportOptions::default()).unwrap();
            assert_eq!((sizes(&got.marginals).1, sizes(&got.labels).1), (columns, columns), "{along}");
        }
    }
    assert_eq!(
        files.error(&["labels=few.txt", "marginals=p"], &ImportOptions::default()),
        "few.txt has 2 labels, but p has 4 columns of marginals; both must have one column per label"
    );
}

#[test]
fn notes_an_inferred_number_of_labels() {
    let got = imported("1:0.5\n4:0.25\n", &ImportOptions::default());
    assert_eq!(sizes(&got.marginals), (2, 5));
    assert!(got.notes[0].contains("5 labels are inferred from the largest that occurs; pass --label-count"));
}

#[test]
fn reads_rows_and_labels_from_a_header() {
    let got = imported("2 7\n1:0.5\n\n\n", &ImportOptions::default());
    assert_eq!(sizes(&got.marginals), (2, 7));
    assert_eq!(
        refusal("3 7\n1:0.5\n\n"),
        "p:1: the header promises 3 rows, but 2 follow; the file may be cut short"
    );
    assert_eq!(
        refusal("1 7\n1:0.5\n2:0.5\n"),
        "p:3: this is row 2, but the header promises 1; correct the header or the rows"
    );
    assert_eq!(refusal("1 7\n7:0.5\n"), "p:2: label 7 is out of range; the header allows 0 to 6");
    assert_eq!(
        refusal("1 4294967296\n1:0.5\n"),
        "p:1: the number of labels in the header is 4294967296, but at most 4294967295 are supported"
    );
}

#[test]
fn refuses_bad_lines_with_number_and_text() {
    let probability = "but a probability must be in [0, 1]; convert scores to probabilities first, or pass \
                       --clamp to move them to the nearest bound";
    let cases = [
        ("1", "'1' is not a label with a score; write label:score".to_owned()),
        ("0.5", "'0.5' is not a label with a score; write label:score".to_owned()),
        ("1,0:0.5", "label '1,0' is not a whole number from 0 to 4294967294".to_owned()),
        (":0.5", "label '' is not a whole number from 0 to 4294967294".to_owned()),
        ("-1:0.5", "label '-1' is not a whole number from 0 to 4294967294".to_owned()),
        ("4294967295:1", "label '4294967295' is not a whole number from 0 to 4294967294".to_owned()),
        ("1:", "value '' in '1:' is not a number".to_owned()),
        ("1:x", "value 'x' in '1:x' is not a number".to_owned()),
        ("1:nan", "value 'nan' in '1:nan' is not finite; a value must be a finite 32-bit number".to_owned()),
        (
            "1:1e39",
            "value '1e39' in '1:1e39' is not finite; a value must be a finite 32-bit number".to_owned(),
        ),
        ("2:0.5 1:0.25 2:0.1", "label 2 occurs twice; name each label of a row once".to_owned()),
        ("3:1.3", format!("label 3 has the score 1.3, {probability}")),
        ("3:1.00000001", format!("label 3 has the score 1.00000001, {probability}")),
        ("3:-0.1", format!("label 3 has the score -0.1, {probability}")),
    ];
    for (line, expected) in cases {
        assert_eq!(refusal(&format!("0:0.5\n{line}\n")), format!("p:2: {expected}"));
    }
}

#[test]
fn a_file_of_nothing_but_a_byte_order_mark_has_no_rows() {
    let got = imported("\u{feff}", &ImportOptions::default());
    assert_eq!(sizes(&got.marginals), (0, 0));
}

#[test]
fn clamps_scores_on_request() {
    let options = ImportOptions { clamp: true, ..labels(5) };
    let got = imported("0:1.5 1:-2 2:0.5 3:-0\n", &options);
    assert_eq!(rows(&got.marginals), [[(0, 1.0), (1, 0.0), (2, 0.5), (3, 0.0)]]);
    assert!(got.notes[0].ends_with("marginals outside [0, 1], which were clamped: 2"), "{:?}", got.notes);
}

#[test]
fn refuses_labels_beyond_the_given_number() {
    let files = Files::new();
    let message = files.add("p", TEXT).error(&["marginals=p"], &labels(3));
    assert_eq!(message, "p:1: label 3 is out of range; --label-count allows 0 to 2");
}

#[test]
fn named_format_is_for_marginals_only() {
    let files = Files::new();
    files.add("a.txt", TEXT);
    let options = ImportOptions { format: format("predictions"), ..ImportOptions::default() };
    assert_eq!(sizes(&files.import(&["a.txt"], &options).unwrap().marginals), (3, 4));
    assert_eq!(
        files.error(&["labels=a.txt"], &options),
        "a.txt: prediction text holds marginals, not labels; omit --format, which applies to all inputs, and write \
         marginals=FILE for the file of predictions"
    );
    assert!(
        files
            .error(
                &["marginals=a.txt"],
                &ImportOptions { format: format("libsvm"), ..ImportOptions::default() }
            )
            .contains("the LIBSVM format cannot hold marginals")
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Predictions are read as written, with the largest score first as programs print it.
    #[test]
    fn predictions_round_trip(
        table in prop::collection::vec(prop::collection::btree_map(0u32..90, 0f32..=1.0, 0..8), 1..40),
    ) {
        let mut text = String::new();
        for row in &table {
            let mut pairs: Vec<(&u32, &f32)> = row.iter().collect();
            pairs.sort_by(|a, b| b.1.total_cmp(a.1));
            let pairs: Vec<String> = pairs.iter().map(|(label, score)| format!("{label}:{score}")).collect();
            text.push_str(&pairs.join(" "));
            text.push('\n');
        }
        let got = imported(&text, &labels(90));
        let expected: Vec<Vec<(u32, f32)>> =
            table.iter().map(|row| row.iter().map(|(&label, &score)| (label, score)).collect()).collect();
        prop_assert_eq!(rows(&got.marginals), expected);
    }
}
