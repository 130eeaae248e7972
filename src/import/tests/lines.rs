//! Tests of Extreme Classification and LIBSVM text.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::{Format, ImportOptions};
use super::{Files, columns, format, read, refusal, rows, sizes};

const EXTREME: &str = "4 5 3\n2,0 4:0.5 1:-2\n 0:1\n3:1e-3\n\n";

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn with(format: Format, zero_based: Option<bool>) -> ImportOptions {
    ImportOptions { format, zero_based, ..ImportOptions::default() }
}

#[test]
fn reads_extreme_classification_with_and_without_labels() {
    let got = read("a.txt", EXTREME);
    assert_eq!(sizes(&got.features), (4, 5));
    assert_eq!(sizes(&got.labels), (4, 3));
    assert_eq!(columns(&got.labels), [vec![0, 2], vec![], vec![], vec![]]);
    assert_eq!(got.labels.as_ref().unwrap().data(), [1.0, 1.0]);
    let features = [vec![(1, -2.0), (4, 0.5)], vec![(0, 1.0)], vec![(3, 1e-3)], vec![]];
    assert_eq!(rows(&got.features), features);
    assert_eq!((got.marginals, got.label_names), (None, None));
    assert_eq!(got.notes, [""; 0]);
}

#[test]
fn gzip_line_ends_and_byte_order_marks_make_no_difference() {
    let plain = read("a.txt", EXTREME);
    assert_eq!(read("a.txt.gz", gzip(EXTREME)), plain);
    assert_eq!(read("a.txt", gzip(EXTREME)), plain);
    assert_eq!(read("a.txt", EXTREME.replace('\n', "\r\n")), plain);
    assert_eq!(read("a.txt", format!("\u{feff}{EXTREME}")), plain);
    let (first, second) = EXTREME.split_at(9);
    let two_members = [gzip(first), gzip(second)].concat();
    assert_eq!(read("a.txt", two_members), plain);
}

#[test]
fn labels_alone_and_features_alone_are_rows() {
    let got = read("a.txt", "2 2 2\n1\n0 1:1");
    assert_eq!(columns(&got.labels), [[1], [0]]);
    assert_eq!(columns(&got.features), [vec![], vec![1]]);
}

#[test]
fn more_rows_than_one_task_stay_in_order() {
    let mut text = "1000 1000 7\n".to_owned();
    (0..1000).for_each(|row| text.push_str(&format!("{} {row}:{row}\n", row % 7)));
    let got = read("a.txt", text);
    let expected: Vec<_> = (0..1000u32).map(|row| vec![(row, row as f32)]).collect();
    assert_eq!(rows(&got.features), expected);
    assert_eq!(columns(&got.labels)[701], [701 % 7]);
}

#[test]
fn empty_lines_after_the_last_row_are_noted() {
    let got = read("a.txt", "1 1 1\n0 0:1\n\n \n");
    assert_eq!(sizes(&got.labels), (1, 1));
    assert!(got.notes[0].ends_with("empty lines after the last row, which are ignored: 2"));
}

#[test]
fn libsvm_counts_features_from_one_unless_zero_occurs() {
    let one = read("a.svm", "3,1 1:1 4:2\n0 2:1\n");
    assert_eq!(sizes(&one.features), (2, 4));
    assert_eq!(sizes(&one.labels), (2, 4));
    assert_eq!(rows(&one.features)[0], [(0, 1.0), (3, 2.0)]);
    assert!(one.notes[0].contains("feature 0 never occurs, so features are read as one-based"));
    assert!(one.notes[1].contains("4 features and 4 labels are inferred"));

    let zero = read("a.svm", "3,1 0:1 4:2\n0 2:1\n");
    assert_eq!(sizes(&zero.features), (2, 5));
    assert_eq!(rows(&zero.features)[0], [(0, 1.0), (4, 2.0)]);
    assert!(zero.notes[0].contains("feature 0 occurs, so features are read as zero-based"));
}

#[test]
fn libsvm_counts_features_as_requested() {
    let files = Files::new();
    files.add("a", "0 1:1\n").add("b", "1 1:1\n0 0:1\n");
    let got = files.import(&["a"], &with(Format::default(), Some(true)));
    assert_eq!(sizes(&got.unwrap().features), (1, 2));
    let got = files.import(&["a"], &with(Format::default(), Some(false)));
    assert_eq!(sizes(&got.unwrap().features), (1, 1));
    let refused = files.error(&["b"], &with(Format::default(), Some(false)));
    assert_eq!(refused, "b:2: feature 0 occurs, but --zero-based is false; pass --zero-based true");
}

#[test]
fn libsvm_empty_lines_are_rows_and_noted() {
    let got = read("a", "0 1:1\n\n 2:1\n");
    assert_eq!(sizes(&got.labels), (3, 1));
    assert!(got.notes[2].ends_with("empty lines, which are rows without labels and features: 1"));
}

#[test]
fn format_option_overrides_recognition() {
    let files = Files::new();
    files.add("a", "1 2:1 3:1\n").add("b", "1 1 1\n0 0:1\n");
    let forced = files.error(&["a"], &with(format("xc"), None));
    assert_eq!(
        forced,
        "a:1: the header is '1 2:1 3:1', but must be three whole numbers: rows, features, labels"
    );
    let forced = files.error(&["b"], &with(format("libsvm"), None));
    assert_eq!(forced, "b:1: '1' is not a feature; write index:value");
}

#[test]
fn refuses_headers_that_do_not_fit() {
    assert_eq!(
        refusal("a", "99999999999999999999999 1 1\n"),
        format!(
            "a:1: the number of rows in the header is 99999999999999999999999, but at most {} are supported",
            usize::MAX
        )
    );
    assert_eq!(
        refusal("a", "1 4294967296 1\n"),
        "a:1: the number of features in the header is 4294967296, but at most 4294967295 are supported"
    );
    assert_eq!(
        refusal("a", "1 1 4294967296\n"),
        "a:1: the number of labels in the header is 4294967296, but at most 4294967295 are supported"
    );
    assert_eq!(
        refusal("a", "18446744073709551615 1 1\n0 0:1\n"),
        "a:1: the header promises 18446744073709551615 rows, but 1 follow; the file may be cut short"
    );
    assert_eq!(
        refusal("a", "3 1 1\n0 0:1\n0 0:1\n"),
        "a:1: the header promises 3 rows, but 2 follow; the file may be cut short"
    );
    assert_eq!(
        refusal("a", "1 1 1\n0 0:1\n\n0 0:1\n"),
        "a:4: this is row 3, but the header promises 1; correct the header or the rows"
    );
}

#[test]
fn refuses_bad_lines_with_number_and_text() {
    let line_three = |line: &str| refusal("a", format!("2 9 9\n0 0:1\n{line}\n"));
    let cases = [
        ("1,x 0:1", "label 'x' is not a whole number from 0 to 4294967294"),
        ("1, 0:1", "label '' is not a whole number from 0 to 4294967294"),
        ("+1 0:1", "label '+1' is not a whole number from 0 to 4294967294"),
        ("-1 0:1", "label '-1' is not a whole number from 0 to 4294967294"),
        ("1.0 0:1", "label '1.0' is not a whole number from 0 to 4294967294"),
        ("9 0:1", "label 9 is out of range; the header allows 0 to 8"),
        ("4,1,4 0:1", "label 4 occurs twice; name each label of a row once"),
        ("1 9:1", "feature 9 is out of range; the header allows 0 to 8"),
        ("1 3:1 2:1 3:1", "feature 3 occurs twice; name each feature of a row once"),
        ("1 2", "'2' is not a feature; write index:value"),
        ("1 x:1", "feature index 'x' in 'x:1' is not a whole number from 0 to 4294967294"),
        (
            "1 4294967295:1",
            "feature index '4294967295' in '4294967295:1' is not a whole number from 0 to 4294967294",
        ),
        (":1", "feature index '' in ':1' is not a whole number from 0 to 4294967294"),
        ("1 2:", "value '' in '2:' is not a number"),
        ("1 2:1.5x", "value '1.5x' in '2:1.5x' is not a number"),
        ("1 2:1:3", "value '1:3' in '2:1:3' is not a number"),
        ("1 2:1,5", "value '1,5' in '2:1,5' is not a number"),
        ("1 2:NaN", "value 'NaN' in '2:NaN' is not finite; a value must be a finite 32-bit number"),
        ("1 2:-inf", "value '-inf' in '2:-inf' is not finite; a value must be a finite 32-bit number"),
        ("1 2:1e39", "value '1e39' in '2:1e39' is not finite; a value must be a finite 32-bit number"),
    ];
    for (line, expected) in cases {
        assert_eq!(line_three(line), format!("a:3: {expected}"));
    }
}

#[test]
fn reports_the_first_of_many_bad_lines() {
    let text = "0 1:1\n".repeat(700) + &"0 1:x\n".repeat(2000);
    for _ in 0..20 {
        assert!(refusal("a", &text).starts_with("a:701: "));
    }
}

#[test]
fn shortens_and_escapes_quoted_text() {
    let shown = refusal("a", format!("0 1:{}\n", "z".repeat(1000)));
    assert!(shown.len() < 150, "{shown}");
    assert!(refusal("a", "\u{1b}[2J 1:1\n").contains("\\u{1b}[2J"));
}

#[test]
fn describes_an_empty_range_of_indices() {
    assert_eq!(refusal("a", "1 0 0\n0\n"), "a:2: label 0 is out of range; the header allows none");
}

#[test]
fn refuses_missing_empty_and_binary_files() {
    assert_eq!(refusal("a", b"0 1:1\n0 \xff:1\n"), "a:2: byte 0xff is not UTF-8; convert the file to UTF-8");
    let empty = "a: the file is empty; a data file has at least one line";
    assert_eq!(refusal("a", ""), empty);
    assert_eq!(refusal("a", gzip("")), empty);
    let missing = Files::new().error(&["gone.txt"], &ImportOptions::default());
    assert_eq!(missing, "gone.txt: no such file; check the path");
}

#[test]
fn refuses_truncated_gzip_streams() {
    let whole = gzip(EXTREME);
    for length in 2..whole.len() {
        let message = refusal("a.txt.gz", &whole[..length]);
        assert!(
            message.starts_with("a.txt.gz: the gzip stream is damaged or cut short ("),
            "{length}: {message}"
        );
    }
}
