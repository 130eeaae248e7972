//! Tests of naming inputs and combining several.

use std::path::Path;

use super::super::{Group, ImportOptions, Input, import};
use super::zip::csr;
use super::{Files, rows, sizes};

fn ones(rows: usize, columns: i64) -> Vec<u8> {
    let indptr: Vec<i64> = (0..=rows as i64).collect();
    csr([rows as i64, columns], &indptr, &vec![0; rows], &vec![1.0; rows])
}

#[test]
fn parses_group_and_file() {
    let parsed = |text: &str| {
        let input = Input::parse(text).unwrap();
        (input.group, input.path.to_str().unwrap().to_owned())
    };
    assert_eq!(parsed("a.npz"), (None, "a.npz".into()));
    assert_eq!(parsed("labels=a.npz"), (Some(Group::Labels), "a.npz".into()));
    assert_eq!(parsed("Features=d/a=b"), (Some(Group::Features), "d/a=b".into()));
    assert_eq!(parsed("./a=b.txt"), (None, "./a=b.txt".into()));
    assert_eq!(parsed("marginals=m"), (Some(Group::Marginals), "m".into()));
}

#[test]
fn refuses_invalid_inputs() {
    let message = |text| Input::parse(text).unwrap_err().to_string();
    assert_eq!(
        message("lables=Y.npz"),
        "'lables=Y.npz': unknown group 'lables'; the groups are features, labels and marginals \
         (write ./lables=Y.npz if '=' is part of the file name)"
    );
    assert!(message("=Y.npz").contains("unknown group ''"));
    for text in ["labels=", ""] {
        assert_eq!(
            message(text),
            format!("'{text}' does not name a file; write [GROUP=]FILE, for example labels=Y.npz")
        );
    }
    assert_eq!(
        import(&[], &ImportOptions::default()).unwrap_err().to_string(),
        "no input was given; name at least one file as [GROUP=]FILE"
    );
}

#[test]
fn guesses_groups_from_whole_words() {
    let cases = [
        ("train_labels.npz", Some(Group::Labels)),
        ("Y.trn.npz", Some(Group::Labels)),
        ("test_y.npz", Some(Group::Labels)),
        ("X_train.npz", Some(Group::Features)),
        ("features-test.npz", Some(Group::Features)),
        ("y_proba.npz", Some(Group::Marginals)),
        ("label_probabilities.npz", Some(Group::Marginals)),
        ("marginals.npz", Some(Group::Marginals)),
        ("train_xc.npz", None),
        ("x_y.npz", None),
        ("matrix.npz", None),
        ("labels/matrix.npz", None),
    ];
    for (name, group) in cases {
        assert_eq!(Group::guess(Path::new(name)), group, "{name}");
    }
}

#[test]
fn asks_for_the_group_if_the_name_does_not_tell_it() {
    let files = Files::new();
    let message = files.add("m.npz", ones(1, 1)).error(&["m.npz"], &ImportOptions::default());
    assert_eq!(
        message,
        "m.npz: the name does not tell whether the file holds features, labels or marginals; \
         write features=m.npz, labels=m.npz or marginals=m.npz"
    );
}

#[test]
fn combines_several_arrays() {
    let files = Files::new();
    files.add("x.npz", ones(3, 9)).add("y.npz", ones(3, 4)).add("p", ones(3, 4));
    let got = files.import(&["x.npz", "y.npz", "marginals=p"], &ImportOptions::default()).unwrap();
    assert_eq!(sizes(&got.features), (3, 9));
    assert_eq!(sizes(&got.labels), (3, 4));
    assert_eq!(sizes(&got.marginals), (3, 4));
}

#[test]
fn combines_arrays_with_one_group_of_a_text() {
    let files = Files::new();
    files.add("a.txt", "2 1 4\n3 0:1\n2\n").add("p", ones(2, 4)).add("x.npz", ones(2, 7));
    let inputs = ["labels=a.txt", "marginals=p", "x.npz"];
    let got = files.import(&inputs, &ImportOptions::default()).unwrap();
    assert_eq!(sizes(&got.features), (2, 7));
    assert_eq!(rows(&got.labels), [[(3, 1.0)], [(2, 1.0)]]);
    let features = files.import(&["features=a.txt"], &ImportOptions::default()).unwrap();
    assert_eq!((sizes(&features.features), features.labels), ((2, 1), None));
}

#[test]
fn refuses_inputs_that_do_not_fit_together() {
    let files = Files::new();
    files
        .add("x.npz", ones(3, 9))
        .add("y.npz", ones(4, 4))
        .add("a.txt", "3 1 2\n0\n1\n0\n")
        .add("p", ones(3, 4));
    let error = |inputs: &[&str]| files.error(inputs, &ImportOptions::default());
    assert_eq!(
        error(&["x.npz", "y.npz"]),
        "x.npz has 3 rows, but y.npz has 4; all inputs must have the same rows"
    );
    assert_eq!(
        error(&["x.npz", "a.txt"]),
        "x.npz and a.txt both hold features; write features=FILE or labels=FILE to read one group of a file"
    );
    assert_eq!(
        error(&["marginals=p", "a.txt"]),
        "a.txt has 2 labels, but p has 4 columns of marginals; both must have one column per label"
    );
    assert_eq!(
        error(&["marginals=a.txt"]),
        "a.txt: the Extreme Classification format cannot hold marginals; give them as an .npz or .npy array or as \
         lines of label:score"
    );
}

#[test]
fn inferred_number_of_labels_grows_to_that_of_the_marginals() {
    let files = Files::new();
    files.add("a.svm", "0 1:1\n2 1:1\n").add("p", ones(2, 5)).add("q", ones(2, 2));
    let got = files.import(&["a.svm", "marginals=p"], &ImportOptions::default()).unwrap();
    assert_eq!(sizes(&got.labels), (2, 5));
    let note = got.notes.last().unwrap();
    assert!(note.contains("the number of labels is that of"), "{note}");
    let message = files.error(&["a.svm", "marginals=q"], &ImportOptions::default());
    assert!(message.starts_with("a.svm has 3 labels, but q has 2"), "{message}");
}

#[test]
fn labels_of_another_file_do_not_grow_with_inferred_ones() {
    let files = Files::new();
    files.add("a.svm", "0 1:1\n2 1:1\n").add("y.npz", ones(2, 4)).add("p", ones(2, 5));
    let message = files.error(&["features=a.svm", "y.npz", "marginals=p"], &ImportOptions::default());
    assert!(message.starts_with("y.npz has 4 labels, but p has 5"), "{message}");
}

#[test]
fn folders_and_hdf5_files_are_named_as_such() {
    let files = Files::new();
    files.add("d.h5", b"\x89HDF\r\n\x1a\nrest");
    let error = |name: &str| files.error(&[name], &ImportOptions::default());
    assert_eq!(error("d.h5"), "d.h5: is an HDF5 file, which needs no import");
    assert!(error(".").ends_with(": is a folder; expected a file"));
}
