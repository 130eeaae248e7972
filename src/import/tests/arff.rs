//! Tests of Mulan's ARFF and its XML label lists.

use super::super::{ImportOptions, Imported};
use super::{Files, columns, rows, sizes};

const HEADER: &str = r#"% a comment
@RELATION 'tiny: one'

@Attribute size numeric
@attribute 'it\'s' {0,1}
@attribute "two words" REAL
@attribute colour{red, 'dark green',blue}
@attribute TAG_a {0, 1}
@attribute depth integer
@attribute TAG_b {1,0}
"#;

const LIST: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
  <label name="TAG_b"><label name="TAG_a"></label></label>
</labels>
"#;

fn files(data: &str) -> Files {
    let files = Files::new();
    let dense = format!("{HEADER}@data\n{data}");
    let sparse = format!("{}@DATA\n{data}", HEADER.replace("{1,0}", "{0,1}"));
    files.add("a.arff", dense).add("s.arff", sparse).add("a.xml", LIST);
    files
}

fn counted(label_count: usize, labels_first: bool) -> ImportOptions {
    ImportOptions { label_count: Some(label_count), labels_first, ..ImportOptions::default() }
}

fn dense(data: &str) -> Imported {
    let got = files(data).import(&["a.arff", "a.xml"], &ImportOptions::default());
    got.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn reads_dense_rows_with_labels_where_the_list_says() {
    let got = dense("1.5,1,-2,'dark green',1,0,0\n% not a row\n\n 0 , 0, 0 ,\"red\",0, 7 ,1\n");
    assert_eq!(sizes(&got.features), (2, 5));
    assert_eq!(got.label_names, Some(vec!["TAG_a".into(), "TAG_b".into()]));
    let features = [vec![(0, 1.5), (1, 1.0), (2, -2.0), (3, 1.0)], vec![(4, 7.0)]];
    assert_eq!(rows(&got.features), features);
    assert_eq!(rows(&got.labels), [[(0, 1.0)], [(1, 1.0)]]);
}

#[test]
fn reads_sparse_rows() {
    let got = files("{6 1, 0 2.5,3 blue}\n{}\n{ 4 1 , 5 0 }\n")
        .import(&["a.xml", "s.arff"], &ImportOptions::default())
        .unwrap();
    let features = [vec![(0, 2.5), (3, 2.0)], vec![], vec![]];
    assert_eq!(rows(&got.features), features);
    assert_eq!(columns(&got.labels), [vec![1], vec![], vec![0]]);
}

#[test]
fn counts_labels_from_either_end_without_a_list() {
    let files = Files::new();
    let text = "@relation r\n@attribute a {0,1}\n@attribute b numeric\n@attribute c numeric\n@data\n1,0,1\n";
    files.add("a.arff", text);
    let last = files.import(&["a.arff"], &counted(2, false)).unwrap();
    assert_eq!(last.label_names, Some(vec!["b".into(), "c".into()]));
    assert_eq!(columns(&last.labels), [[1]]);
    let first = files.import(&["a.arff"], &counted(1, true)).unwrap();
    assert_eq!(first.label_names, Some(vec!["a".into()]));
    assert_eq!(columns(&first.features), [[1]]);
    for requested in [0, 4] {
        assert_eq!(
            files.error(&["a.arff"], &counted(requested, false)),
            format!(
                "a.arff: --label-count is {requested}, but must be from 1 to 3, the number of attributes"
            )
        );
    }
    assert_eq!(
        files.error(&["a.arff"], &ImportOptions::default()),
        "a.arff: the labels among the attributes are unknown; give the XML label list too, or --label-count N"
    );
}

#[test]
fn bad_rows_are_refused_with_line_and_attribute() {
    let cases = [
        ("1,1,?,red,1,0,0", "attribute 'two words' is missing ('?'); fill in or remove missing values"),
        ("1,1,2", "the row has 3 values, but 7 attributes are declared"),
        ("1,1,2,red,0,0,0,0", "the row has 8 values, but 7 attributes are declared"),
        ("x,1,2,red,0,0,0", "attribute 'size' is 'x', but a number is needed"),
        (",1,2,red,0,0,0", "attribute 'size' is '', but a number is needed"),
        ("nan,1,2,red,0,0,0", "attribute 'size' is 'nan', but a value must be a finite 32-bit number"),
        ("1,2,2,red,0,0,0", "attribute 'it's' is '2', but it is declared {0,1}"),
        ("1,1,2,pink,0,0,0", "attribute 'colour' is 'pink', but that is not one of its declared values"),
        ("1,1,2,red,5,0,0", "attribute 'TAG_a' is '5', but it is declared {0,1}"),
        ("1,1,2,'red,0,0,0", "the quote in ''red,0,0,0' is never closed; end it on the same line"),
        (
            "{0 1}",
            "attribute 'TAG_b' is declared {1,0}, so a sparse row that leaves it out means 1; declare it {0,1} or write dense rows",
        ),
    ];
    for (row, expected) in cases {
        let message = files(row).error(&["a.arff", "a.xml"], &ImportOptions::default());
        assert_eq!(message, format!("a.arff:12: {expected}"));
    }
}

#[test]
fn bad_sparse_rows_are_refused() {
    let cases = [
        ("{0 1", "'0 1' is not an entry of a sparse row; write {index value, index value}"),
        ("{0 1,}", "'0 1,}' is not an entry of a sparse row; write {index value, index value}"),
        ("{0}", "'0}' is not an entry of a sparse row; write {index value, index value}"),
        ("{x 1}", "'x 1}' is not an entry of a sparse row; write {index value, index value}"),
        ("{0 1} x", "'{0 1} x' is not an entry of a sparse row; write {index value, index value}"),
        ("{", "'' is not an entry of a sparse row; write {index value, index value}"),
        ("{7 1}", "attribute index '7' is out of range; 7 attributes count from 0"),
        ("{5 1, 0 1, 5 0}", "attribute 5 ('depth') occurs twice; name each attribute of a row once"),
        ("{4 ?}", "attribute 'TAG_a' is missing ('?'); fill in or remove missing values"),
        ("{0 }", "attribute 'size' is '', but a number is needed"),
    ];
    for (row, expected) in cases {
        let message = files(row).error(&["s.arff", "a.xml"], &ImportOptions::default());
        assert_eq!(message, format!("s.arff:12: {expected}"));
    }
}

#[test]
fn labels_other_than_zero_and_one_are_refused() {
    let text = "@attribute a numeric\n@attribute b {no,yes}\n@data\n";
    let files = Files::new();
    files.add("n.arff", format!("{text}2,no\n"));
    assert_eq!(
        files.error(&["n.arff"], &counted(2, false)),
        "n.arff:4: label 'a' is '2', but a label is 0 or 1"
    );
    files.add("l.arff", format!("{text}1,yes\n"));
    assert_eq!(
        files.error(&["l.arff"], &counted(2, false)),
        "l.arff:4: label 'b' is 'yes', but a label is 0 or 1"
    );
}

#[test]
fn bad_headers_are_refused() {
    let cases = [
        (
            "@atribute a numeric",
            "1: '@atribute a numeric' is neither @relation, @attribute nor @data; correct the header",
        ),
        ("@attribute", "1: attribute '' has no name; write @attribute NAME TYPE"),
        ("@attribute a", "1: attribute 'a' has no type; write @attribute NAME TYPE"),
        (
            "@attribute a string",
            "1: attribute 'a' is of type 'string'; supported are numeric, real, integer and {value,value}",
        ),
        (
            "@attribute a {0,1",
            "1: attribute 'a' is of type '{0,1'; supported are numeric, real, integer and {value,value}",
        ),
        ("@attribute 'a numeric", "1: the quote in ''a numeric' is never closed; end it on the same line"),
        (
            "@attribute a real\n@attribute a real",
            "2: attribute 'a' was declared before; names must be unique",
        ),
        ("@relation r\n\n@attribute a real\n", "3: the file ends without @data; it may be cut short"),
        ("%\n", "1: the file ends without @data; it may be cut short"),
    ];
    for (text, expected) in cases {
        let files = Files::new();
        let message = files.add("a.arff", text).error(&["a.arff"], &counted(1, false));
        assert_eq!(message, format!("a.arff:{expected}"));
    }
}

#[test]
fn bad_label_lists_are_refused() {
    let cases = [
        (
            "<labels>\n<label name='x'/></labels>",
            "a.xml:2: label 'x' is not an attribute of a.arff; correct the list or the file",
        ),
        ("<labels>\n\n<label/></labels>", "a.xml:3: this <label> has no name; write <label name=\"...\">"),
        (
            "<labels><label name='size'>\n<label name='size'/></label></labels>",
            "a.xml:2: label 'size' is listed twice; list each label once",
        ),
        ("\n<labels/>", "a.xml:2: the list holds no <label>; list at least one"),
        ("<names/>", "a.xml:1: the outermost element is <names>, but a label list is <labels>"),
    ];
    for (list, expected) in cases {
        let files = files("1,1,2,red,0,0,0");
        let message = files.add("a.xml", list).error(&["a.arff", "a.xml"], &ImportOptions::default());
        assert_eq!(message, expected);
    }
    let files = files("");
    let broken = files
        .add("a.xml", "<labels>\n<label name=a/></labels>")
        .error(&["a.arff", "a.xml"], &ImportOptions::default());
    assert!(broken.starts_with("a.xml:2: not well-formed XML: "), "{broken}");
}

#[test]
fn a_label_list_belongs_to_one_arff_file() {
    let files = files("");
    files.add("b.xml", LIST).add("a.txt", "1 1 1\n0 0:1\n");
    assert_eq!(
        files.error(&["a.xml"], &ImportOptions::default()),
        "a.xml: an XML label list needs its ARFF file; name that too"
    );
    assert!(files.error(&["a.txt", "a.xml"], &ImportOptions::default()).contains("needs its ARFF file"));
    assert_eq!(
        files.error(&["a.arff", "labels=a.xml"], &ImportOptions::default()),
        "a.xml: an XML label list has no group; name it without GROUP="
    );
    assert_eq!(
        files.error(&["a.arff", "a.xml", "b.xml"], &ImportOptions::default()),
        "a.xml and b.xml are both XML label lists; give the one of the ARFF file"
    );
    assert_eq!(
        files.error(&["a.arff", "a.xml"], &counted(3, false)),
        "a.xml: lists 2 labels, but --label-count is 3; omit --label-count"
    );
    assert!(files.import(&["a.arff", "a.xml"], &counted(2, false)).is_ok());
}
