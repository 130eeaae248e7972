//! One pass over the rows of a shard, in parallel: what Frank-Wolfe, prediction and evaluation share.

use std::sync::{Mutex, PoisonError};

use super::kernel::{CoefficientTable, Kernel};
use super::mixture::{DrawScratch, Mixture, PredictionDrawer, Sampling};
use super::prepared_rule::PreparedRule;
use super::rule::{Candidates, Rule};
use super::select::Pick;
use super::thread_counter::{ThreadCounter, sum_counters};
use crate::measure::ConfusionCounts;
use crate::shard::{Marginals, Shard, Targets};

/// The counts of one rule on this shard, for one rule only, both by label; see [`CountingPass`].
pub fn count_predictions(shard: &Shard, rule: &Rule, k: usize, candidates: Candidates) -> ConfusionCounts {
    let mut counts = ConfusionCounts::new(shard.labels());
    CountingPass::new(shard, k, candidates, shard.labels())
        .count(&rule.by_column(&shard.marginals), &mut counts);
    let Some(columns) = shard.marginals.columns_by_label() else { return counts };
    let by_label = |counts: Vec<u64>| columns.iter().map(|&column| counts[column as usize]).collect();
    ConfusionCounts { true_positives: by_label(counts.true_positives), predicted: by_label(counts.predicted) }
}

/// Counts one rule after the other on the same shard, all by column. What one count needed of memory the next one uses again:
/// with millions of labels, asking the system for it anew would cost as much as the rest.
pub struct CountingPass<'s> {
    shard: &'s Shard,
    k: usize,
    candidates: Candidates,
    /// Columns that are counted.
    columns: usize,
    table: Option<CoefficientTable>,
    counters: Vec<ThreadCounter>,
}

impl<'s> CountingPass<'s> {
    /// Only the first `columns` are counted.
    pub fn new(shard: &'s Shard, k: usize, candidates: Candidates, columns: usize) -> CountingPass<'s> {
        CountingPass { shard, k, candidates, columns, table: None, counters: Vec::new() }
    }

    /// Makes `counts` those of a rule by column (Algorithm 1, lines 9 and 10; [`Rule::by_column`]). Integers, so threads may take
    /// rows in any order.
    ///
    /// # Panics
    /// When there are fewer than k labels, the rule is for more, or the counts are not of as many as are counted.
    pub fn count(&mut self, rule: &Rule, counts: &mut ConfusionCounts) {
        let CountingPass { shard, k, candidates, columns, .. } = *self;
        assert_eq!(counts.predicted.len(), columns, "a count for every column");
        let marginals = &shard.marginals;
        let table = self
            .table
            .take()
            .unwrap_or_else(|| CoefficientTable::new(marginals.labels(), marginals.coding()));
        let prepared = PreparedRule::with_kernel(Kernel::fastest(), rule, k, candidates, marginals, table);
        let spare = Mutex::new(std::mem::take(&mut self.counters));
        let take = || spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut counters = marginals.blocks().fold(
            || take().unwrap_or_else(|| ThreadCounter::new(shard, columns)),
            |counter, block| counter.add(shard, &prepared, marginals.blocks().rows(block)),
        );
        sum_counters(&prepared, &mut counters, counts);
        counters.extend(spare.into_inner().unwrap_or_else(PoisonError::into_inner));
        self.counters = counters;
        self.table = Some(prepared.into_table());
    }
}

/// The sum of two sets of counts.
pub fn add_counts(mut total: ConfusionCounts, part: ConfusionCounts) -> ConfusionCounts {
    add(&mut total.true_positives, &part.true_positives);
    add(&mut total.predicted, &part.predicted);
    total
}

fn add(total: &mut [u64], part: &[u64]) {
    total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
}

/// Positives of each label on this shard, in the units of its counts.
pub fn count_positives(shard: &Shard) -> Vec<u64> {
    let labels = shard.labels();
    let blocks = shard.marginals.blocks();
    let parts = match &shard.targets {
        Targets::Labels(true_labels) => {
            let mut positives = vec![0; labels];
            true_labels.labels().indices().iter().for_each(|&label| positives[label as usize] += 1);
            return positives;
        }
        Targets::Expected(fixed) => blocks.fold(
            || vec![0; labels],
            |positives, block| {
                for local in blocks.rows(block) {
                    for (label, value) in shard.marginals.labels_and_marginals(local) {
                        positives[label as usize] += fixed.encode_f32(value);
                    }
                }
            },
        ),
    };
    let mut positives = vec![0; labels];
    parts.iter().for_each(|part| add(&mut positives, part));
    positives
}

/// What decides a draw.
#[derive(Clone, Copy, Debug)]
pub struct DrawOptions {
    pub sampling: Sampling,
    pub seed: u64,
    pub round: u32,
}

/// Draws k labels for each row from the mixture, best first, and gives block, row and picks to `add`,
/// which adds them to a total of the thread. `first_row` is the global number of the first row. One pass,
/// however many rules there are: with [`Sampling::Rule`] only the drawn rule looks at a row.
pub fn fold_predictions<T: Send>(
    marginals: &Marginals,
    first_row: u64,
    mixture: &Mixture,
    draw: DrawOptions,
    new: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, usize, usize, &[Pick]) + Sync,
) -> Vec<T> {
    let rules = mixture.prepare(marginals);
    let integer_weights = mixture.integer_weights();
    let drawer = PredictionDrawer { rules: &rules, integer_weights: &integer_weights, draw };
    let totals = marginals.blocks().fold(
        || (DrawScratch::default(), new()),
        |(space, total), block| {
            for local in marginals.blocks().rows(block) {
                let picks = drawer.draw(marginals.row(local), first_row + local as u64, space);
                add(total, block, local, picks);
            }
        },
    );
    totals.into_iter().map(|(_, total)| total).collect()
}

/// k labels for each row of `marginals`, drawn from the mixture: row after row, best first.
/// `first_row` is the global number of the first one.
pub fn predict(marginals: &Marginals, first_row: u64, mixture: &Mixture, draw: DrawOptions) -> Vec<Pick> {
    let k = mixture.k;
    let mut all = vec![Pick::default(); marginals.rows() * k];
    let blocks = marginals.blocks();
    let pieces = blocks.pieces(&mut all, |row| row * k);
    fold_predictions(
        marginals,
        first_row,
        mixture,
        draw,
        || (),
        |(), block, local, picks| {
            let at = (local - blocks.rows(block).start) * k;
            pieces.with(block, |piece| piece[at..at + k].copy_from_slice(picks));
        },
    );
    drop(pieces);
    all
}
