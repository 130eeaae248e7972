//! The kernels without special instructions: what every other one is compared with.

use super::{LANES, PROBES, Table};
use crate::shard::{Column, Entries, PADDING};

/// In double precision and then rounded, which is monotone. A single multiplication and a single
/// addition would not be.
#[inline]
pub(super) fn single(pair: (f32, f32), value: f32) -> f32 {
    (f64::from(pair.0) * f64::from(value) + f64::from(pair.1)) as f32
}

pub(super) fn score<C: Column>(table: &Table, row: Entries<'_, C>, k: usize, scores: &mut [f32]) -> f32 {
    let mut maxima = [f32::NEG_INFINITY; LANES];
    let entries = row.columns().chunks(LANES).zip(row.values().chunks(LANES));
    for ((columns, values), scores) in entries.zip(scores.chunks_mut(LANES)) {
        let pairs = columns.iter().zip(values);
        for (((&column, &value), score), largest) in pairs.zip(&mut *scores).zip(&mut maxima) {
            *score = single(table.pair(column.index()), value);
            *largest = largest.max(*score);
        }
        scores[columns.len()..].fill(f32::NEG_INFINITY);
    }
    if k > LANES {
        return f32::NEG_INFINITY;
    }
    maxima.sort_unstable_by(|a, b| b.total_cmp(a));
    maxima[k - 1]
}

pub(super) fn count(scores: &[f32], thresholds: [f32; PROBES]) -> [usize; PROBES] {
    thresholds.map(|threshold| scores.iter().map(|&score| usize::from(score >= threshold)).sum())
}

/// Without a branch: every position is written, and kept by moving on.
pub(super) fn find(scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
    let positions = &mut positions[..scores.len() + PADDING];
    let mut found = 0;
    for (at, &score) in scores.iter().enumerate() {
        positions[found] = at as u32;
        found += usize::from(score >= threshold);
    }
    found
}
