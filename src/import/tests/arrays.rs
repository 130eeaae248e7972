//! Tests of handmade NumPy and SciPy files, most of them invalid; tests/python reads files by SciPy itself.

use super::super::ImportOptions;
use super::zip::{csr, floats, integers, npy, npz, word};
use super::{Files, read, refusal, rows};

const CLAMP: fn() -> ImportOptions = || ImportOptions { clamp: true, ..ImportOptions::default() };

#[test]
fn sorts_rows_and_drops_zeros_from_labels_only() {
    let file = csr([2, 4], &[0, 3, 3], &[3, 0, 1], &[1.0, 0.0, 1.0]);
    let labels = read("y.npz", &file);
    assert_eq!(rows(&labels.labels), [vec![(1, 1.0), (3, 1.0)], vec![]]);
    let features = read("x.npz", &file);
    assert_eq!(rows(&features.features)[0], [(0, 0.0), (1, 1.0), (3, 1.0)]);
}

#[test]
fn reads_coordinates_in_one_array() {
    let coords: Vec<u8> = [1i64, 0, 2, 1].iter().flat_map(|v| v.to_le_bytes()).collect();
    let members = [
        ("format", npy("<U3", "()", b"c\0\0\0o\0\0\0o\0\0\0")),
        ("shape", integers(&[2, 3])),
        ("data", floats(&[1.0, 1.0])),
        ("coords", npy("<i8", "(2, 2)", &coords)),
    ];
    let got = read("y.npz", npz(&members, false));
    assert_eq!(rows(&got.labels), [[(1, 1.0)], [(2, 1.0)]]);
}

#[test]
fn refuses_values_that_the_group_does_not_allow() {
    let cell = |value: f64| csr([2, 3], &[0, 0, 1], &[2], &[value]);
    assert_eq!(refusal("y.npz", cell(0.5)), "y.npz: row 1, column 2 is 0.5, but a label is 0 or 1");
    assert_eq!(
        refusal("marginals.npz", cell(1.3)),
        "marginals.npz: row 1, column 2 is 1.3, but a probability must be in [0, 1]; pass --clamp to accept it"
    );
    let above = 1.0 + f64::EPSILON;
    assert!(refusal("marginals.npz", cell(above)).contains("is 1.0000000000000002, but"));
    for (value, shown) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        for name in ["x.npz", "y.npz", "marginals.npz"] {
            assert_eq!(
                refusal(name, cell(value)),
                format!("{name}: row 1, column 2 is {shown}, but a value must be a finite 32-bit number")
            );
        }
        let files = Files::new();
        files.add("marginals.npz", cell(value));
        assert!(files.import(&["marginals.npz"], &CLAMP()).is_err());
    }
    assert!(refusal("x.npz", cell(1e300)).contains("finite 32-bit number"));
}

#[test]
fn clamps_and_counts_marginals() {
    let files = Files::new();
    files.add("m", csr([1, 3], &[0, 3], &[0, 1, 2], &[-0.1, 0.5, 1.3]));
    let got = files.import(&["marginals=m"], &CLAMP()).unwrap();
    assert_eq!(rows(&got.marginals), [[(0, 0.0), (1, 0.5), (2, 1.0)]]);
    assert!(got.notes[0].ends_with("marginals outside [0, 1], which were clamped: 2"));
    assert!(files.import(&["labels=m"], &CLAMP()).is_err());
}

#[test]
fn refuses_invalid_matrices() {
    let refused = |file| refusal("y.npz", file);
    let cases = [
        (
            csr([1, 3], &[0, 2], &[1, 1], &[1.0, 1.0]),
            "row 0, column 1 is stored twice; call matrix.sum_duplicates() first",
        ),
        (csr([1, 3], &[0, 1], &[3], &[1.0]), "indices[0] is 3, but the shape allows 0 to 2"),
        (csr([1, 3], &[0, 1], &[-1], &[1.0]), "indices[0] is -1, but the shape allows 0 to 2"),
        (csr([2, 3], &[0, 1], &[1], &[1.0]), "indptr has 2 entries, but 3 are needed"),
        (csr([1, 3], &[0, 1], &[1], &[1.0, 1.0]), "indices has 1 entries, but 2 are needed"),
        (
            csr([1, 3], &[0, 2], &[1], &[1.0]),
            "indptr[1] is 2, but it must start at 0, never fall and end within 1",
        ),
        (
            csr([2, 3], &[0, 1, 0], &[1], &[1.0]),
            "indptr[2] is 0, but it must start at 0, never fall and end within 1",
        ),
        (
            csr([1, 3], &[1, 1], &[1], &[1.0]),
            "indptr[0] is 1, but it must start at 0, never fall and end within 1",
        ),
        (
            csr([1, 4294967296], &[0, 1], &[1], &[1.0]),
            "the shape is [1, 4294967296], but a matrix has two dimensions and 1 to 4294967295 columns",
        ),
        (
            csr([-1, 2], &[0, 1], &[1], &[1.0]),
            "the shape is [-1, 2], but a matrix has two dimensions and 1 to 4294967295 columns",
        ),
        (
            npz(&[("format", word("csr")), ("shape", integers(&[1, 2]))], true),
            "member data.npy is not in the archive; it holds format, shape",
        ),
        (
            npz(&[("a", floats(&[1.0])), ("b", floats(&[]))], true),
            "the archive holds a, b; give one array, or what scipy.sparse.save_npz writes",
        ),
        (npz(&[], true), "the archive holds no array; give one array, or what scipy.sparse.save_npz writes"),
        (
            npz(&[("a", floats(&[1.0]))], true),
            "the shape is [1], but a matrix has two dimensions and 1 to 4294967295 columns",
        ),
        (
            npz(&[("format", word("bsr")), ("shape", integers(&[1, 2]))], true),
            "the sparse format is 'bsr'; supported are csr, csc and coo: save matrix.tocsr()",
        ),
        (
            b"text, not zip".to_vec(),
            "not a zip archive (it has no end record); write it with scipy.sparse.save_npz or numpy.savez",
        ),
    ];
    for (file, expected) in cases {
        assert_eq!(refused(file), format!("y.npz: {expected}"));
    }
}

#[test]
fn refuses_shapes_too_large_for_memory() {
    let members = [
        ("format", word("coo")),
        ("shape", integers(&[i64::MAX, 2])),
        ("data", floats(&[])),
        ("row", integers(&[])),
        ("col", integers(&[])),
    ];
    assert_eq!(
        refusal("y.npz", npz(&members, true)),
        "y.npz: 9223372036854775807 rows do not fit in memory; check the shape"
    );
}

#[test]
fn refuses_invalid_arrays() {
    let huge = "(9223372036854775807, 9223372036854775807)";
    let cases = [
        (npy("<f8", "(2, 2)", &[0; 24]), "the file holds 24 bytes of data, but its header promises 32"),
        (npy("<f8", "(1, 1)", &[0; 24]), "the file holds 24 bytes of data, but its header promises 8"),
        (npy("<f8", huge, &[0; 8]), "the file holds 8 bytes of data, but its header promises more than fit"),
        (
            npy("|O", "(1, 1)", &[0; 8]),
            "the file has type |O; supported are booleans, integers and floats of at most 64 bits",
        ),
        (
            npy("<c16", "(1, 1)", &[0; 16]),
            "the file has type <c16; supported are booleans, integers and floats of at most 64 bits",
        ),
        (npy("|S8", "(1, 1)", &[0; 8]), "the file has type |S8; supported are booleans, integers and floats"),
        (
            npy("<f8", "(1000000000000, 0)", &[]),
            "the shape is [1000000000000, 0], but a matrix has two dimensions and 1 to 4294967295 columns",
        ),
        (
            npy("<f8", "(-1, 2)", &[]),
            "the file is not a NumPy array (its header is {'descr': '<f8', 'fortran_order': False, \
             'shape': (-1, 2), }); write it with numpy.save",
        ),
    ];
    for (file, expected) in cases {
        assert_eq!(refusal("y.npy", file), format!("y.npy: {expected}"));
    }
    let float_indices = [
        ("format", word("csr")),
        ("shape", integers(&[1, 2])),
        ("data", floats(&[1.0])),
        ("indices", floats(&[1.0])),
        ("indptr", integers(&[0, 1])),
    ];
    assert_eq!(
        refusal("y.npz", npz(&float_indices, true)),
        "y.npz: indices.npy has type <f8; supported are integers"
    );
}

#[test]
fn refuses_damaged_members() {
    let mut file = npz(&[("a", npy("<f8", "(1, 1)", &1f64.to_le_bytes()))], false);
    assert!(read("y.npz", &file).labels.is_some());
    let last_data_byte = file.windows(4).position(|w| w == b"PK\x01\x02").unwrap() - 1;
    file[last_data_byte] ^= 1;
    assert_eq!(
        refusal("y.npz", &file),
        "y.npz: member a.npy cannot be unpacked (its checksum is wrong); write or fetch the file again"
    );
}

#[test]
fn refuses_truncated_archives() {
    let whole = csr([1, 3], &[0, 1], &[1], &[1.0]);
    for length in 1..whole.len() {
        assert!(refusal("y.npz", &whole[..length]).starts_with("y.npz: not a zip archive ("));
    }
}
