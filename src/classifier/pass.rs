//! Parallel passes over the rows of a shard: counting for Frank-Wolfe, drawing for prediction and evaluation.

use std::sync::{Mutex, PoisonError};

use super::kernel::{CoefficientTable, Kernel};
use super::mixture::{DrawScratch, Mixture, PredictionDrawer, Sampling};
use super::prepared_rule::PreparedRule;
use super::rule::{Candidates, Rule};
use super::select::Pick;
use super::thread_counter::{ThreadCounter, sum_counters};
use crate::measure::ConfusionCounts;
use crate::shard::{Marginals, Shard, Targets};

/// Counts the predictions of a single rule on this shard. Rule and counts are by label.
pub fn count_predictions(shard: &Shard, rule: &Rule, k: usize, candidates: Candidates) -> ConfusionCounts {
    let mut counts = ConfusionCounts::new(shard.labels());
    CountingPass::new(shard, k, candidates, shard.labels())
        .count(&rule.by_column(&shard.marginals), &mut counts);
    let Some(columns) = shard.marginals.columns_by_label() else { return counts };
    let by_label = |counts: Vec<u64>| columns.iter().map(|&column| counts[column as usize]).collect();
    ConfusionCounts { true_positives: by_label(counts.true_positives), predicted: by_label(counts.predicted) }
}

/// Counts one rule after the other on the same shard, by column. Reuses memory from rule to rule: with millions of labels,
/// allocating it would take as long as the rest.
pub struct CountingPass<'s> {
    shard: &'s Shard,
    k: usize,
    candidates: Candidates,
    /// Number of columns counted, from the first.
    columns: usize,
    table: Option<CoefficientTable>,
    counters: Vec<ThreadCounter>,
}

impl<'s> CountingPass<'s> {
    /// Counts the first `columns` columns only.
    pub fn new(shard: &'s Shard, k: usize, candidates: Candidates, columns: usize) -> CountingPass<'s> {
        CountingPass { shard, k, candidates, columns, table: None, counters: Vec::new() }
    }

    /// Makes `counts` those of a rule by column ([`Rule::by_column`]; Algorithm 1, lines 9 and 10).
    ///
    /// # Panics
    /// If there are fewer than k labels, the rule has more labels than the shard, or `counts` has another number of columns.
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
        let reuse = || spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut counters = marginals.blocks().fold(
            || reuse().unwrap_or_else(|| ThreadCounter::new(shard, columns)),
            |counter, block| counter.add(shard, &prepared, marginals.blocks().rows(block)),
        );
        sum_counters(&prepared, &mut counters, counts);
        counters.extend(spare.into_inner().unwrap_or_else(PoisonError::into_inner));
        self.counters = counters;
        self.table = Some(prepared.table);
    }
}

/// Returns the sum of two sets of counts.
pub fn add_counts(mut total: ConfusionCounts, part: ConfusionCounts) -> ConfusionCounts {
    add(&mut total.true_positives, &part.true_positives);
    add(&mut total.predicted, &part.predicted);
    total
}

fn add(total: &mut [u64], part: &[u64]) {
    total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
}

/// Counts the positives of each label on this shard, in the unit of its counts.
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
                        positives[label.index()] += fixed.encode_f32(value);
                    }
                }
            },
        ),
    };
    let mut positives = vec![0; labels];
    parts.iter().for_each(|part| add(&mut positives, part));
    positives
}

/// Options that determine a draw.
#[derive(Clone, Copy, Debug)]
pub struct DrawOptions {
    pub sampling: Sampling,
    pub seed: u64,
    pub round: u32,
}

/// Draws k labels for each row from the mixture, best first, and passes block, row and picks to `add`, which adds them to
/// the total of a thread. `first_row` is the global number of the first row. With [`Sampling::Rule`], only the drawn rule
/// scores a row.
pub fn fold_predictions<T: Send>(
    marginals: &Marginals,
    first_row: u64,
    mixture: &Mixture,
    draw: DrawOptions,
    new: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, usize, usize, &[Pick]) + Sync,
) -> Vec<T> {
    let drawer = PredictionDrawer::new(mixture, marginals, draw);
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
