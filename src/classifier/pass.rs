//! One pass over the rows of a shard, in parallel: what Frank-Wolfe, prediction and evaluation share.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::mixture::{Drawer, Mixture, Sampling, Space};
use super::rule::{Candidates, Rule};
use super::select::{Pick, Prepared, Selector};
use crate::measure::Counts;
use crate::shard::{Shard, Targets};
use crate::store::Csr;

/// Rows one thread takes at a time.
const BLOCK: usize = 2048;

fn blocks(rows: usize) -> impl IndexedParallelIterator<Item = Range<usize>> {
    (0..rows.div_ceil(BLOCK)).into_par_iter().map(move |block| block * BLOCK..((block + 1) * BLOCK).min(rows))
}

/// The largest number of entries stored in a row.
fn longest_row(marginals: &Csr) -> usize {
    marginals.indptr().raw_storage().windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
}

/// Hands blocks of rows to threads, each of which adds to a total of its own. Returns those totals,
/// at most one a thread, in no particular order.
pub fn fold_blocks<T: Send>(
    rows: usize,
    new: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, Range<usize>) + Sync,
) -> Vec<T> {
    let idle: Mutex<Vec<T>> = Mutex::new(Vec::new());
    let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    blocks(rows).for_each(|rows| {
        // Bound before it is matched on: the lock must not be held while rows are worked on.
        let taken = lock().pop();
        let mut total = taken.unwrap_or_else(&new);
        add(&mut total, rows);
        lock().push(total);
    });
    idle.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The counts of one rule on this shard (Algorithm 1, lines 9 and 10). Integers, so threads may
/// take rows in any order.
pub fn count(shard: &Shard, rule: &Rule, k: usize, candidates: Candidates) -> Counts {
    let prepared = Prepared::new(rule, k, candidates, longest_row(&shard.marginals));
    let labels = shard.labels();
    let parts = fold_blocks(
        shard.local_rows(),
        || Counts::new(labels),
        |counts, rows| {
            let mut selector = Selector::default();
            for local in rows {
                let picks = selector.select(&prepared, shard.row(local));
                add_row(counts, shard, local, picks);
            }
        },
    );
    parts.into_iter().fold(Counts::new(labels), add_counts)
}

/// The sum of two sets of counts.
pub fn add_counts(mut total: Counts, part: Counts) -> Counts {
    add(&mut total.true_positives, &part.true_positives);
    add(&mut total.predicted, &part.predicted);
    total
}

fn add(total: &mut [u64], part: &[u64]) {
    total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
}

fn add_row(counts: &mut Counts, shard: &Shard, local: usize, picks: &[Pick]) {
    let labels = shard.true_labels(local);
    for pick in picks {
        let label = pick.label as usize;
        counts.predicted[label] += 1;
        counts.true_positives[label] += match &shard.targets {
            Targets::Labels(_) => u64::from(labels.binary_search(&pick.label).is_ok()),
            Targets::Expected(fixed) => fixed.encode(pick.marginal.into()),
        };
    }
}

/// Positives of each label on this shard, in the units of its counts.
pub fn count_positives(shard: &Shard) -> Vec<u64> {
    let mut positives = vec![0; shard.labels()];
    match &shard.targets {
        Targets::Labels(labels) => {
            labels.indices().iter().for_each(|&label| positives[label as usize] += 1);
        }
        Targets::Expected(fixed) => {
            for (&label, &value) in shard.marginals.indices().iter().zip(shard.marginals.data()) {
                positives[label as usize] += fixed.encode(value.into());
            }
        }
    }
    positives
}

/// k labels for each row of `marginals`, drawn from the mixture: row after row, best first.
/// `first_row` is the global number of the first one.
pub fn predict(
    marginals: &Csr,
    first_row: u64,
    mixture: &Mixture,
    sampling: Sampling,
    seed: u64,
    round: u32,
) -> Vec<Pick> {
    let rules = mixture.prepare(longest_row(marginals));
    let quanta = mixture.quanta();
    let drawer = Drawer { rules: &rules, quanta: &quanta, sampling, seed, round };
    let mut picks = vec![Pick::default(); marginals.rows() * mixture.k];
    picks.par_chunks_mut(BLOCK * mixture.k).enumerate().for_each(|(block, picks)| {
        let mut space = Space::default();
        for (at, picks) in picks.chunks_mut(mixture.k).enumerate() {
            let local = block * BLOCK + at;
            let row = crate::shard::row(marginals, local);
            picks.copy_from_slice(drawer.draw(row, first_row + local as u64, &mut space));
        }
    });
    picks
}
