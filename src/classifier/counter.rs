//! One thread's counts of one rule.

use std::ops::Range;

use rayon::prelude::*;

use super::prepared::Prepared;
use super::select::{Chosen, Selector, UNSTORED};
use crate::measure::Counts;
use crate::memory::Zeroed;
use crate::shard::{FixedPoint, Marginals, Shard, Targets, Truth};

/// Counts by column. Nothing else is near them in memory, so that threads do not slow each other down.
pub(super) struct Counter<'s> {
    shard: &'s Shard,
    selector: Selector,
    chosen: Vec<Chosen>,
    tallies: Tallies,
    /// Sums of marginals, where those stand in for labels.
    expected: Zeroed<u64>,
}

/// Rows whose labels are chosen before any is counted: many look-ups are then under way at once.
const BATCH: usize = 32;

impl<'s> Counter<'s> {
    pub fn new(shard: &'s Shard) -> Counter<'s> {
        let labels = shard.labels();
        Counter {
            shard,
            selector: Selector::default(),
            chosen: Vec::new(),
            tallies: Tallies::new(labels),
            expected: match &shard.targets {
                Targets::Labels(_) => Zeroed::new(0),
                Targets::Expected(_) => Zeroed::new(labels),
            },
        }
    }

    pub fn add(&mut self, rule: &Prepared<'_>, rows: Range<usize>) {
        let marginals = &self.shard.marginals;
        for first in rows.clone().step_by(BATCH) {
            let batch = first..(first + BATCH).min(rows.end);
            if let Targets::Labels(truth) = &self.shard.targets {
                truth.hits().read_ahead(marginals.start(batch.start)..marginals.start(batch.end));
            }
            self.chosen.clear();
            self.selector.choose(rule, marginals, batch.clone(), &mut self.chosen);
            let k = self.chosen.len() / batch.len();
            for (local, chosen) in batch.zip(self.chosen.chunks_exact(k)) {
                match &self.shard.targets {
                    Targets::Labels(truth) => {
                        for chosen in chosen {
                            self.tallies.add(chosen.column, hit(marginals, truth, local, chosen));
                        }
                    }
                    Targets::Expected(fixed) => {
                        for chosen in chosen {
                            self.tallies.add(chosen.column, 0);
                            self.expected[chosen.column as usize] += expect(marginals, *fixed, local, chosen);
                        }
                    }
                }
            }
        }
    }
}

/// 1 if the row has the label, otherwise 0.
#[inline]
fn hit(marginals: &Marginals, truth: &Truth, local: usize, chosen: &Chosen) -> u32 {
    if chosen.position == UNSTORED {
        return truth.row(local).binary_search(&marginals.label(chosen.column)).is_ok().into();
    }
    truth.hits().get(marginals.start(local) + chosen.position as usize)
}

/// The marginal of a label in fixed point.
#[inline]
fn expect(marginals: &Marginals, fixed: FixedPoint, local: usize, chosen: &Chosen) -> u64 {
    if chosen.position == UNSTORED {
        return 0;
    }
    fixed.encode_single(marginals.values()[marginals.start(local) + chosen.position as usize])
}

/// How often each column was predicted, and was so rightly.
struct Tallies {
    /// Both together, because both are counted at once. A shard has fewer rows than this counts to (see
    /// `Shard::MOST_ROWS`).
    counts: Zeroed<[u32; 2]>,
    /// With very many columns each count would wait for memory. So they are collected here first, for each
    /// stretch of columns: the place in it, and in the last bit whether it was right.
    pending: Vec<Vec<u16>>,
}

/// Columns of a stretch: their counts fit the cache of a core.
const STRETCH: usize = 1 << 15;

/// Counts collected before they are added: several for each cache line of a stretch.
const PENDING: usize = 1 << 14;

impl Tallies {
    fn new(columns: usize) -> Tallies {
        let stretches = columns.div_ceil(STRETCH);
        let pending = if stretches > 4 { vec![Vec::new(); stretches] } else { Vec::new() };
        Tallies { counts: Zeroed::new(columns), pending }
    }

    #[inline]
    fn add(&mut self, column: u32, hit: u32) {
        if self.pending.is_empty() {
            let [predicted, hits] = &mut self.counts[column as usize];
            *predicted += 1;
            *hits += hit;
            return;
        }
        let stretch = column as usize / STRETCH;
        let pending = &mut self.pending[stretch];
        pending.push(((column as usize % STRETCH) << 1) as u16 | hit as u16);
        if pending.len() == PENDING {
            self.flush(stretch);
        }
    }

    fn flush(&mut self, stretch: usize) {
        let counts = &mut self.counts[stretch * STRETCH..];
        for code in self.pending[stretch].drain(..) {
            let [predicted, hits] = &mut counts[usize::from(code >> 1)];
            *predicted += 1;
            *hits += u32::from(code & 1);
        }
    }
}

/// Labels that one thread adds up at a time.
const LABELS: usize = 1 << 14;

/// What all threads counted, by label.
pub(super) fn total(marginals: &Marginals, mut parts: Vec<Counter<'_>>) -> Counts {
    parts.par_iter_mut().for_each(|part| {
        (0..part.tallies.pending.len()).for_each(|stretch| part.tallies.flush(stretch));
    });
    let mut counts = Counts::new(marginals.labels());
    let columns_of = marginals.columns_of();
    let predicted = counts.predicted.par_chunks_mut(LABELS);
    let hits = counts.true_positives.par_chunks_mut(LABELS);
    predicted.zip(hits).enumerate().for_each(|(at, (predicted, hits))| {
        for part in &parts {
            for (label, (predicted, hits)) in (at * LABELS..).zip(predicted.iter_mut().zip(&mut *hits)) {
                let column = columns_of.map_or(label, |columns| columns[label] as usize);
                let [p, h] = part.tallies.counts[column];
                *predicted += u64::from(p);
                *hits += u64::from(h) + part.expected.get(column).copied().unwrap_or(0);
            }
        }
    });
    counts
}
