//! The label balance of the parts.

use super::Fractions;
use super::parts::Parts;
use crate::store::Role;
use crate::world::World;

/// The labels of one part compared with all labels.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Balance {
    pub positives: u64,
    /// Labels with positives, but none in this part.
    pub without_positive: u64,
    /// The largest difference, over labels, between the part's positives and its fraction of all positives.
    pub worst_count: f64,
    /// The largest such difference as a share of the label's positives.
    pub worst_share: f64,
    /// The largest share among labels with at least ten positives; with fewer, parts cannot be balanced.
    pub worst_share_of_10: f64,
}

/// Compares the labels of all parts; empty without labels. Collective.
pub fn balance(
    world: &World,
    parts: &Parts,
    labels: usize,
    fractions: &Fractions,
    rows: u64,
) -> Vec<Balance> {
    let mut counts: Vec<Vec<u64>> = Vec::new();
    for rows in parts.group_rows(Role::Labels) {
        let mut count = vec![0; labels];
        rows.columns.iter().for_each(|&label| count[label as usize] += 1);
        counts.push(count);
    }
    counts.iter_mut().for_each(|count| world.sum(count, rows));
    let all: Vec<u64> = (0..labels).map(|label| counts.iter().map(|count| count[label]).sum()).collect();
    let of = |(count, &fraction): (&Vec<u64>, &f64)| {
        let mut found = Balance {
            positives: count.iter().sum(),
            without_positive: 0,
            worst_count: 0.0,
            worst_share: 0.0,
            worst_share_of_10: 0.0,
        };
        for (&here, &all) in count.iter().zip(&all).filter(|(_, all)| **all > 0) {
            let off = (here as f64 - fraction * all as f64).abs();
            let share = off / all as f64;
            found.without_positive += u64::from(here == 0);
            found.worst_count = found.worst_count.max(off);
            found.worst_share = found.worst_share.max(share);
            if all >= 10 {
                found.worst_share_of_10 = found.worst_share_of_10.max(share);
            }
        }
        found
    };
    counts.iter().zip(fractions.values()).map(of).collect()
}
