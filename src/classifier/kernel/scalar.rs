//! The kernels without special instructions: what every other one is compared with.

use super::{CoefficientTable, LANES, MAX_BOUNDED_K, MAX_SHORT_LIST, ScoreKind, THRESHOLDS, maxima_count};
use crate::shard::{Code, PADDING, Position, Row};

/// In double precision and then rounded, which is monotone. A single multiplication and a single
/// addition would not be.
#[inline]
pub(super) fn single_score(pair: (f32, f32), value: f32) -> f32 {
    (f64::from(pair.0) * f64::from(value) + f64::from(pair.1)) as f32
}

pub(super) fn score(table: &CoefficientTable, row: Row<'_>, k: usize, scores: &mut [f32]) -> f32 {
    let entries = row.codes().iter().zip(row.values());
    match table.score_kind() {
        ScoreKind::Single => {
            let single_score =
                |(&code, &value): (&u16, &f32)| single_score(table.coefficients(code.into()), value);
            write_scores(entries.map(single_score).map(|score| (score, score)), k, scores)
        }
        ScoreKind::Bound => {
            write_scores(entries.map(|(&code, &value)| bounds(table, Code(code), value)), k, scores)
        }
    }
}

/// What no column of a code scores above, and below.
fn bounds(table: &CoefficientTable, code: Code, value: f32) -> (f32, f32) {
    table.bounds(code).map(|pair| single_score(pair, value)).into()
}

/// The scores themselves where columns share codes: much slower than their bounds.
pub(super) fn score_columns(table: &CoefficientTable, row: Row<'_>, k: usize, scores: &mut [f32]) -> f32 {
    let columns = (0..row.len() as u32).map(|position| row.column(Position(position)).index());
    let single_score = |(column, &value): (usize, &f32)| single_score(table.coefficients(column), value);
    write_scores(columns.zip(row.values()).map(single_score).map(|score| (score, score)), k, scores)
}

/// The scores of the first `length` of these columns.
pub(super) fn score_gathered(
    table: &CoefficientTable,
    columns: &[u32],
    length: usize,
    values: &[f32],
    k: usize,
    scores: &mut [f32],
) -> f32 {
    let entries = columns[..length].iter().zip(values);
    let single_score =
        |(&column, &value): (&u32, &f32)| single_score(table.coefficients(column as usize), value);
    write_scores(entries.map(single_score).map(|score| (score, score)), k, scores)
}

/// Writes the scores of a row, which come with what their single scores are not below. Returns what at least `k` of
/// those reach.
fn write_scores(row: impl ExactSizeIterator<Item = (f32, f32)>, k: usize, scores: &mut [f32]) -> f32 {
    let length = row.len();
    let mut space = [f32::NEG_INFINITY; 2 * LANES];
    let maxima = &mut space[..maxima_count(k)];
    for (at, ((score, least), out)) in row.zip(&mut *scores).enumerate() {
        *out = score;
        let lane = at % maxima.len();
        maxima[lane] = maxima[lane].max(least);
    }
    scores[length..length.next_multiple_of(LANES)].fill(f32::NEG_INFINITY);
    if k > maxima.len() {
        return f32::NEG_INFINITY;
    }
    maxima.sort_unstable_by(|a, b| b.total_cmp(a));
    maxima[k - 1]
}

pub(super) fn count(scores: &[f32], thresholds: [f32; THRESHOLDS]) -> [usize; THRESHOLDS] {
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

/// Writes the `k` positions of the largest scores, ascending, and returns the smallest of those scores; `None` where
/// another is too close.
pub(super) fn pick_top_k(
    scores: &[f32],
    positions: &[u32],
    k: usize,
    best: &mut [u32; MAX_BOUNDED_K],
) -> Option<f32> {
    let mut falling = [(f32::NEG_INFINITY, 0); MAX_SHORT_LIST];
    let falling = &mut falling[..positions.len()];
    let scored = positions.iter().map(|&position| (scores[position as usize], position));
    falling.iter_mut().zip(scored).for_each(|(to, one)| *to = one);
    falling.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let (least, _) = *falling.get(k - 1)?;
    let close = falling.get(k).is_some_and(|next| next.0 >= least.next_down());
    best.iter_mut().zip(&*falling).for_each(|(to, one)| *to = one.1);
    best[..k].sort_unstable();
    (!close && least > f32::NEG_INFINITY).then_some(least)
}
