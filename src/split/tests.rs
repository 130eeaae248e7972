//! Splits have the promised sizes and balance.

use proptest::prelude::*;

use super::label_buckets::LabelBuckets;
use super::{Fractions, Method, Split, random_order, stratify};
use crate::sparse::Csr;

fn fractions(values: &[f64]) -> Fractions {
    Fractions::new(values.to_vec()).unwrap()
}

fn refused(values: &[f64]) -> String {
    Fractions::new(values.to_vec()).unwrap_err().to_string()
}

/// Returns the matrix of the labels of rows.
fn matrix(columns: usize, rows: &[Vec<u32>]) -> Csr {
    let mut indptr = vec![0];
    let mut indices = Vec::new();
    for row in rows {
        indices.extend_from_slice(row);
        indptr.push(indices.len());
    }
    let values = vec![1.0; indices.len()];
    Csr::new((rows.len(), columns), indptr, indices, values)
}

fn counts(parts: &[u8], number: usize) -> Vec<u64> {
    (0..number).map(|part| parts.iter().filter(|found| usize::from(**found) == part).count() as u64).collect()
}

#[test]
fn refuses_invalid_fractions() {
    assert_eq!(refused(&[1.0]), "--fractions is 1, but a split has at least two parts, for example 0.5,0.5");
    assert_eq!(refused(&[0.5, 0.4]), "--fractions is 0.5,0.4, which sums to 0.9, but must sum to 1");
    assert_eq!(refused(&[0.9, 0.9]), "--fractions is 0.9,0.9, which sums to 1.8, but must sum to 1");
    assert_eq!(refused(&[1.5, -0.5]), "--fractions has 1.5, but every value must lie between 0 and 1");
    assert_eq!(refused(&[-0.5, 1.5]), "--fractions has -0.5, but every value must lie between 0 and 1");
    assert_eq!(refused(&[0.0, 1.0]), "--fractions has 0, but every value must lie between 0 and 1");
    assert_eq!(refused(&[f64::NAN, 0.5]), "--fractions has NaN, but every value must lie between 0 and 1");
    assert_eq!(
        refused(&vec![1.0 / 101.0; 101]),
        "--fractions has 101 values, but at most 100 parts are possible"
    );
}

#[test]
fn sizes_follow_the_fractions() {
    assert_eq!(fractions(&[0.5, 0.5]).sizes(10).unwrap(), [5, 5]);
    assert_eq!(fractions(&[0.5, 0.5]).sizes(11).unwrap(), [6, 5]);
    assert_eq!(fractions(&[0.75, 0.25]).sizes(1000).unwrap(), [750, 250]);
    assert_eq!(fractions(&[0.29, 0.71]).sizes(100).unwrap(), [29, 71]);
    assert_eq!(fractions(&[0.333_333_3, 0.333_333_3, 0.333_333_4]).sizes(3).unwrap(), [1, 1, 1]);
    assert_eq!(fractions(&[0.1; 10]).sizes(10).unwrap(), [1; 10]);
}

#[test]
fn refuses_a_part_without_rows() {
    let message = |values: &[f64], rows| fractions(values).sizes(rows).unwrap_err().to_string();
    assert_eq!(
        message(&[0.5, 0.5], 1),
        "the fraction 0.5 (part 2) of 1 rows is less than one row, but every part needs one"
    );
    assert!(message(&[0.25; 4], 3).contains("part 4"));
    assert!(message(&[0.999, 0.001], 100).contains("the fraction 0.001 (part 2)"));
}

#[test]
fn the_seed_decides_the_order_of_rows() {
    let order = random_order(1000, 1);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..1000));
    assert_eq!(order, random_order(1000, 1));
    assert_ne!(order, random_order(1000, 2));
    let fixed = order.iter().enumerate().filter(|(at, row)| **row as usize == *at).count();
    assert!(fixed < 10, "{fixed} rows stayed where they were");
}

#[test]
fn plain_parts_are_drawn_from_all_rows() {
    let split = Split { fractions: fractions(&[0.5, 0.5]), seed: 3, method: Method::Plain };
    let sizes = split.fractions.sizes(10_000).unwrap();
    let parts = split.assign_rows(10_000, None, &sizes);
    assert_eq!(counts(&parts, 2), sizes);
    let first_half = counts(&parts[..5000], 2)[0];
    assert!((2300..2700).contains(&first_half), "{first_half}");
}

#[test]
fn labels_of_two_rows_are_in_both_parts() {
    let rows: Vec<Vec<u32>> = (0..40).map(|row| vec![row / 2]).collect();
    for seed in 0..20 {
        let parts = stratify(&matrix(20, &rows), &random_order(40, seed), &[20, 20]);
        for label in 0..20 {
            assert_ne!(parts[2 * label], parts[2 * label + 1], "label {label}, seed {seed}");
        }
    }
}

#[test]
fn rows_without_labels_fill_the_parts() {
    let rows: Vec<Vec<u32>> = (0..100).map(|row| if row < 10 { vec![0] } else { vec![] }).collect();
    let parts = stratify(&matrix(3, &rows), &random_order(100, 5), &[75, 25]);
    assert_eq!(counts(&parts, 2), [75, 25]);
    let positives = counts(&parts[..10], 2);
    assert!(positives == [7, 3] || positives == [8, 2], "{positives:?}");
}

#[test]
fn stratified_parts_are_more_balanced_than_plain_ones() {
    // A long tail: label j is in every (j + 1)-th row, shifted.
    let (rows, labels) = (3000u32, 60u32);
    let row = |row: u32| {
        (0..labels).filter(|label| (row * 7 + label * 13).is_multiple_of(10 * (label + 1))).collect()
    };
    let rows_of: Vec<Vec<u32>> = (0..rows).map(row).collect();
    let labels_of = matrix(labels as usize, &rows_of);
    let worst = |parts: &[u8]| {
        let mut in_first = vec![0.0; labels as usize];
        let mut all = vec![0.0; labels as usize];
        for (row, part) in rows_of.iter().zip(parts) {
            for &label in row {
                all[label as usize] += 1.0;
                in_first[label as usize] += f64::from(*part == 0);
            }
        }
        let off = |(first, all): (&f64, &f64)| (first - 0.5 * all).abs();
        in_first.iter().zip(&all).map(off).fold(0.0, f64::max)
    };
    for seed in 0..5 {
        let mut split = Split { fractions: fractions(&[0.5, 0.5]), seed, method: Method::Stratified };
        let sizes = split.fractions.sizes(rows.into()).unwrap();
        let stratified = worst(&split.assign_rows(rows.into(), Some(&labels_of), &sizes));
        split.method = Method::Plain;
        let plain = worst(&split.assign_rows(rows.into(), None, &sizes));
        assert!(stratified <= 1.5 && plain > 3.0, "stratified {stratified}, plain {plain}");
    }
}

/// Labels in a hierarchy: each row has a rare one, its parent and its grandparent. Without exchanges, parents are assigned at
/// random.
#[test]
fn parents_of_rare_labels_are_balanced_too() {
    let rows: Vec<Vec<u32>> = (0..999).map(|row| vec![row % 7, 7 + row % 100, 107 + row / 3]).collect();
    let labels = matrix(440, &rows);
    for seed in 0..5 {
        let parts = stratify(&labels, &random_order(999, seed), &[500, 499]);
        let off = |label: u32| {
            let having = rows.iter().zip(&parts).filter(|(row, _)| row.contains(&label));
            let (all, first) =
                having.fold((0.0, 0.0), |sum, (_, part)| (sum.0 + 1.0, sum.1 + f64::from(*part == 0)));
            (first - all * 500.0 / 999.0f64).abs()
        };
        let worst = (0..440).map(off).fold(0.0, f64::max);
        assert!(worst < 3.0, "seed {seed}: {worst}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// After any decrements, the rarest label is one with the smallest count above 0.
    #[test]
    fn finds_the_rarest_label(
        counts in prop::collection::vec(0u32..6, 1..20),
        takes in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
    ) {
        let mut known = counts.clone();
        let mut rarest = LabelBuckets::new(counts);
        for take in takes {
            let smallest = known.iter().copied().filter(|&count| count > 0).min();
            prop_assert_eq!(rarest.rarest().map(|label| known[label as usize]), smallest);
            let left: Vec<usize> = (0..known.len()).filter(|&label| known[label] > 0).collect();
            if left.is_empty() {
                break;
            }
            let label = left[take.index(left.len())];
            rarest.remove_row(label as u32);
            known[label] -= 1;
        }
    }

    #[test]
    fn stratified_parts_have_their_sizes(
        rows in prop::collection::vec(prop::collection::btree_set(0u32..12, 0..5), 3..80),
        seed in any::<u64>(),
    ) {
        let rows: Vec<Vec<u32>> = rows.into_iter().map(|row| row.into_iter().collect()).collect();
        let sizes = fractions(&[0.4, 0.3, 0.3]).sizes(rows.len() as u64).unwrap();
        let parts = stratify(&matrix(12, &rows), &random_order(rows.len() as u64, seed), &sizes);
        prop_assert_eq!(counts(&parts, 3), sizes);
    }
}
