//! One pass over the rows of a shard, in parallel: what Frank-Wolfe, prediction and evaluation share.

use std::ops::Range;

use rayon::prelude::*;

use super::mixture::{Drawer, Mixture, Sampling, Space};
use super::prepared::Prepared;
use super::rule::{Candidates, Rule};
use super::select::{Chosen, Pick, Selector};
use crate::measure::Counts;
use crate::memory::Zeroed;
use crate::shard::{FixedPoint, Marginals, Shard, Targets};
use crate::store::Csr;

/// The counts of one rule on this shard (Algorithm 1, lines 9 and 10). Integers, so threads may
/// take rows in any order.
pub fn count(shard: &Shard, rule: &Rule, k: usize, candidates: Candidates) -> Counts {
    let prepared = Prepared::new(rule, k, candidates, &shard.marginals);
    let parts = shard.marginals.blocks().fold(
        || Counter::new(shard),
        |counter, block| counter.add(&prepared, shard.marginals.blocks().rows(block)),
    );
    total(shard.labels(), parts.iter().map(|part| (&part.counts[..], &part.expected[..])))
}

/// One thread's counts. Nothing else is near them in memory, so that threads do not slow each other down.
struct Counter<'s> {
    shard: &'s Shard,
    selector: Selector,
    chosen: Vec<Chosen>,
    /// Whether they are right.
    hits: Vec<u32>,
    /// How often a label was predicted, and was so rightly. Together, because both are counted at once. A
    /// shard has fewer rows than this counts to (see `Shard::MOST_ROWS`).
    counts: Zeroed<[u32; 2]>,
    /// Sums of marginals instead, where those stand in for labels.
    expected: Zeroed<u64>,
}

/// Rows whose labels are chosen before any is counted. The looking up for them goes on side by side then:
/// with millions of labels each waits for memory.
const BATCH: usize = 32;

impl<'s> Counter<'s> {
    fn new(shard: &'s Shard) -> Counter<'s> {
        let labels = shard.labels();
        Counter {
            shard,
            selector: Selector::default(),
            chosen: Vec::new(),
            hits: Vec::new(),
            counts: Zeroed::new(labels),
            expected: match &shard.targets {
                Targets::Labels(_) => Zeroed::new(0),
                Targets::Expected(_) => Zeroed::new(labels),
            },
        }
    }

    fn add(&mut self, rule: &Prepared<'_>, rows: Range<usize>) {
        let marginals = &self.shard.marginals;
        for first in rows.clone().step_by(BATCH) {
            let batch = first..(first + BATCH).min(rows.end);
            self.chosen.clear();
            if let Targets::Labels(labels) = &self.shard.targets {
                read_ahead(labels, batch.clone());
            }
            self.selector.choose(rule, marginals, batch.clone(), &mut self.chosen);
            if let Some(names) = marginals.names() {
                self.chosen.iter_mut().for_each(|chosen| chosen.column = names[chosen.column as usize]);
            }
            match &self.shard.targets {
                Targets::Labels(labels) => self.count_hits(labels, batch),
                Targets::Expected(fixed) => self.count_expected(*fixed),
            }
        }
    }

    fn count_hits(&mut self, labels: &Csr, rows: Range<usize>) {
        let k = self.chosen.len() / rows.len();
        self.hits.clear();
        for (local, chosen) in rows.zip(self.chosen.chunks_exact(k)) {
            let truth = Truth::of(labels, local);
            self.hits.extend(chosen.iter().map(|chosen| u32::from(truth.contains(chosen.column))));
        }
        // By itself, so that many look-ups are under way at once.
        for (chosen, hit) in self.chosen.iter().zip(&self.hits) {
            let [predicted, hits] = &mut self.counts[chosen.column as usize];
            *predicted += 1;
            *hits += hit;
        }
    }

    fn count_expected(&mut self, fixed: FixedPoint) {
        for chosen in &self.chosen {
            self.counts[chosen.column as usize][0] += 1;
            self.expected[chosen.column as usize] += fixed.encode_single(chosen.marginal);
        }
    }
}

/// Brings the labels of a batch near, all at once. They are so few that the processor does not notice that
/// they are read one after the other; it would wait for each anew.
fn read_ahead(labels: &Csr, rows: Range<usize>) {
    let indptr = labels.indptr();
    let indptr = &indptr.raw_storage()[rows.start..=rows.end];
    let indices = &labels.indices()[indptr[0]..indptr[indptr.len() - 1]];
    // One of each cache line.
    std::hint::black_box(indices.iter().step_by(16).fold(0, |all, label| all ^ label));
}

/// The labels of a row, to look for others among them.
struct Truth<'l> {
    /// The first of them, and what is no label where there are fewer.
    first: [u32; FIRST],
    /// The others, ascending.
    rest: &'l [u32],
}

/// Labels that are looked at whether they are there or not: how many there are cannot be predicted.
const FIRST: usize = 8;

/// No data set has that many (see `MatrixFile`).
const NO_LABEL: u32 = u32::MAX;

impl<'l> Truth<'l> {
    #[inline]
    fn of(labels: &'l Csr, local: usize) -> Truth<'l> {
        let (indptr, indices) = (labels.indptr(), labels.indices());
        let (start, end) = (indptr.raw_storage()[local], indptr.raw_storage()[local + 1]);
        // Whatever follows is read too, where something does, and then blotted out.
        let mut first = match indices[start..].first_chunk() {
            Some(first) => *first,
            None => std::array::from_fn(|at| indices.get(start + at).copied().unwrap_or(NO_LABEL)),
        };
        for (at, label) in (start..).zip(&mut first) {
            *label = if at < end { *label } else { NO_LABEL };
        }
        Truth { first, rest: &indices[(start + FIRST).min(end)..end] }
    }

    #[inline]
    fn contains(&self, label: u32) -> bool {
        let found = self.first.iter().fold(false, |found, &other| found | (other == label));
        // Whether it was found cannot be predicted, so nothing must depend on it.
        if self.rest.is_empty() { found } else { found | self.rest.binary_search(&label).is_ok() }
    }
}

/// Labels that one thread adds up at a time.
const STRETCH: usize = 1 << 14;

/// The sum of what threads counted: (predicted, right) and, where there are no labels, sums of marginals.
fn total<'c>(labels: usize, parts: impl Iterator<Item = (&'c [[u32; 2]], &'c [u64])>) -> Counts {
    let parts: Vec<_> = parts.collect();
    let mut counts = Counts::new(labels);
    let predicted = counts.predicted.par_chunks_mut(STRETCH);
    let hits = counts.true_positives.par_chunks_mut(STRETCH);
    predicted.zip(hits).enumerate().for_each(|(stretch, (predicted, hits))| {
        let range = stretch * STRETCH..stretch * STRETCH + predicted.len();
        for (counts, expected) in &parts {
            for (at, [p, h]) in counts[range.clone()].iter().enumerate() {
                predicted[at] += u64::from(*p);
                hits[at] += u64::from(*h);
            }
            if !expected.is_empty() {
                hits.iter_mut().zip(&expected[range.clone()]).for_each(|(sum, part)| *sum += part);
            }
        }
    });
    counts
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

/// Positives of each label on this shard, in the units of its counts.
pub fn count_positives(shard: &Shard) -> Vec<u64> {
    let labels = shard.labels();
    let blocks = shard.marginals.blocks();
    let parts = match &shard.targets {
        Targets::Labels(labels) => {
            let mut positives = vec![0; labels.cols()];
            labels.indices().iter().for_each(|&label| positives[label as usize] += 1);
            return positives;
        }
        Targets::Expected(fixed) => blocks.fold(
            || vec![0; labels],
            |positives, block| {
                for local in blocks.rows(block) {
                    for (label, value) in shard.marginals.labelled(local) {
                        positives[label as usize] += fixed.encode_single(value);
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
pub struct Draw {
    pub sampling: Sampling,
    pub seed: u64,
    pub round: u32,
}

/// Draws k labels for each row from the mixture, best first, and gives block, row and picks to `add`,
/// which adds them to a total of the thread. `first_row` is the global number of the first row. One pass,
/// however many rules there are: with [`Sampling::Rule`] only the drawn rule looks at a row.
pub fn fold_draws<T: Send>(
    marginals: &Marginals,
    first_row: u64,
    mixture: &Mixture,
    draw: Draw,
    new: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, usize, usize, &[Pick]) + Sync,
) -> Vec<T> {
    let rules = mixture.prepare(marginals);
    let quanta = mixture.quanta();
    let drawer = Drawer { rules: &rules, quanta: &quanta, draw };
    let totals = marginals.blocks().fold(
        || (Space::default(), new()),
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
pub fn predict(marginals: &Marginals, first_row: u64, mixture: &Mixture, draw: Draw) -> Vec<Pick> {
    let k = mixture.k;
    let mut all = vec![Pick::default(); marginals.rows() * k];
    let blocks = marginals.blocks();
    let pieces = blocks.pieces(&mut all, |row| row * k);
    fold_draws(
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
