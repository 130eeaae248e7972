//! The kernel without special instructions, with which every other one is compared.

use super::shared_codes::ShortList;
use super::{
    CoefficientTable, GROUP, MAX_BOUNDED_K, MAX_SHORT_LIST, Maxima, Operations, ScoreKind, THRESHOLDS,
    maxima_count,
};
use crate::shard::{Code, Position, Row};

/// Rounds once, from double precision, which is monotone. Rounding product and sum would not be.
#[inline]
fn single_score(pair: (f32, f32), value: f32) -> f32 {
    (f64::from(pair.0) * f64::from(value) + f64::from(pair.1)) as f32
}

/// Writes the scores of a row, and keeps maxima of their lower bounds.
fn write_scores(
    row: impl ExactSizeIterator<Item = [f32; 2]>,
    k: usize,
    scores: &mut [f32],
    maxima: &mut Maxima,
) {
    let length = row.len();
    maxima.fill(f32::NEG_INFINITY);
    for (at, ([score, least], out)) in row.zip(&mut *scores).enumerate() {
        *out = score;
        let lane = at % maxima_count(k);
        maxima[lane] = maxima[lane].max(least);
    }
    scores[length..length.next_multiple_of(GROUP)].fill(f32::NEG_INFINITY);
}

/// Writes single scores of a row whose columns share codes, which is much slower than bounds.
pub(super) fn score_columns(
    table: &CoefficientTable,
    row: Row<'_>,
    k: usize,
    scores: &mut [f32],
    maxima: &mut Maxima,
) {
    let columns = (0..row.len() as u32).map(|position| row.column(Position(position)).index());
    let score = |(column, &value)| [single_score(table.coefficients(column), value); 2];
    write_scores(columns.zip(row.values()).map(score), k, scores, maxima);
}

#[derive(Clone, Copy)]
pub(super) struct Scalar;

impl Operations for Scalar {
    fn score(
        self,
        table: &CoefficientTable,
        kind: ScoreKind,
        row: Row<'_>,
        k: usize,
        scores: &mut [f32],
        maxima: &mut Maxima,
    ) {
        let score = |(&code, &value): (&u16, &f32)| match kind {
            ScoreKind::Single => [single_score(table.coefficients(code.into()), value); 2],
            ScoreKind::Bound => table.bounds(Code(code)).map(|pair| single_score(pair, value)),
        };
        write_scores(row.codes().iter().zip(row.values()).map(score), k, scores, maxima);
    }

    fn score_gathered(
        self,
        table: &CoefficientTable,
        (columns, values): (&[u32], &[f32]),
        length: usize,
        k: usize,
        scores: &mut [f32],
        maxima: &mut Maxima,
    ) {
        let score =
            |(&column, &value): (&u32, &f32)| [single_score(table.coefficients(column as usize), value); 2];
        write_scores(columns[..length].iter().zip(values).map(score), k, scores, maxima);
    }

    fn kth_of_maxima(self, maxima: &Maxima, k: usize) -> f32 {
        let mut falling = *maxima;
        falling.sort_unstable_by(|a, b| b.total_cmp(a));
        falling.get(k - 1).copied().unwrap_or(f32::NEG_INFINITY)
    }

    fn count(self, scores: &[f32], thresholds: [f32; THRESHOLDS]) -> [usize; THRESHOLDS] {
        thresholds.map(|threshold| scores.iter().filter(|&&score| score >= threshold).count())
    }

    /// Has no branch: every position is written, and overwritten by the next one unless it counts.
    fn find(self, scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
        let positions = &mut positions[..scores.len() + GROUP];
        let mut found = 0;
        for (at, &score) in scores.iter().enumerate() {
            positions[found] = at as u32;
            found += usize::from(score >= threshold);
        }
        found
    }

    fn pick_top_k(
        self,
        scores: &[f32],
        positions: &[u32],
        found: usize,
        k: usize,
        best: &mut [u32; MAX_BOUNDED_K],
    ) -> Option<f32> {
        let mut falling = [(f32::NEG_INFINITY, 0); MAX_SHORT_LIST];
        let falling = &mut falling[..found];
        let scored = positions.iter().map(|&position| (scores[position as usize], position));
        falling.iter_mut().zip(scored).for_each(|(to, one)| *to = one);
        falling.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let (least, _) = *falling.get(k - 1)?;
        let close = falling.get(k).is_some_and(|next| next.0 >= least.next_down());
        best.iter_mut().zip(&*falling).for_each(|(to, one)| *to = one.1);
        best[..k].sort_unstable();
        (!close && least > f32::NEG_INFINITY).then_some(least)
    }

    fn gather(self, row: Row<'_>, positions: &[u32], short_list: &mut ShortList) {
        let found = &positions[..short_list.length];
        short_list.positions[..found.len()].copy_from_slice(found);
        short_list.columns.fill(0);
        row.gather(found, &mut short_list.columns, &mut short_list.values);
    }

    fn pick(self, table: &CoefficientTable, short_list: &mut ShortList, k: usize) -> Option<f32> {
        let ShortList { length, columns, values, best, .. } = short_list;
        let (mut scores, mut maxima) = ([0.0; MAX_SHORT_LIST], [0.0; 2 * GROUP]);
        self.score_gathered(table, (columns, values), *length, k, &mut scores, &mut maxima);
        let numbers: [u32; MAX_SHORT_LIST] = std::array::from_fn(|at| at as u32);
        self.pick_top_k(&scores, &numbers, *length, k, best)
    }
}
