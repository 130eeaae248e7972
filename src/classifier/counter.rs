//! One thread's counts of one rule.

use std::ops::Range;

use rayon::prelude::*;

use super::prepared::Prepared;
use super::select::{Chosen, ChosenEntry, Fill, Selector};
use crate::buffers::{Zeroed, prefetch::bring_later};
use crate::measure::Counts;
use crate::shard::{Marginals, Shard, Targets, Truth};

/// Counts by column. Nothing else is near them in memory, so that threads do not slow each other down.
pub(super) struct Counter {
    selector: Selector,
    chosen: Chosen,
    tallies: Tallies,
    fills: Fills,
    /// Sums of marginals, where those stand in for labels.
    expected: Zeroed<u64>,
}

/// Rows whose labels are chosen before any is counted: many look-ups are then under way at once.
const BATCH: usize = 32;

impl Counter {
    /// One that tells the first so many columns apart.
    pub fn new(shard: &Shard, columns: usize) -> Counter {
        Counter {
            selector: Selector::default(),
            chosen: Chosen::default(),
            tallies: Tallies::new(columns),
            fills: Fills::default(),
            expected: match &shard.targets {
                Targets::Labels(_) => Zeroed::new(0),
                Targets::Expected(_) => Zeroed::new(columns + 1),
            },
        }
    }

    pub fn add(&mut self, shard: &Shard, rule: &Prepared<'_>, rows: Range<usize>) {
        let marginals = &shard.marginals;
        for first in rows.clone().step_by(BATCH) {
            let batch = first..(first + BATCH).min(rows.end);
            let entries = marginals.start(batch.start)..marginals.start(batch.end);
            if let Targets::Labels(truth) = &shard.targets {
                truth.hits().read_ahead(entries.clone());
            }
            marginals.read_ahead(entries);
            self.chosen.clear();
            self.selector.choose(rule, marginals, batch, &mut self.chosen);
            match &shard.targets {
                Targets::Labels(truth) => {
                    let hit = |one: &ChosenEntry| (one.column, truth.hits().get(one.entry));
                    self.tallies.add(self.chosen.entries.iter().map(hit));
                    self.fills.add(rule, &self.chosen);
                    for fill in &self.chosen.fills {
                        self.fills.add_hits(rule, marginals, truth, fill, &self.chosen.places);
                    }
                }
                Targets::Expected(fixed) => {
                    self.tallies.add(self.chosen.entries.iter().map(|one| (one.column, 0)));
                    for &ChosenEntry { column, entry } in &self.chosen.entries {
                        let place = self.tallies.place(column);
                        self.expected[place] += fixed.encode_single(marginals.values()[entry]);
                    }
                    // What is not stored has probability 0 and adds nothing to what is expected.
                    self.fills.add(rule, &self.chosen);
                }
            }
        }
    }
}

/// Counts of labels that rows do not store, by their place in the rule's list of those.
#[derive(Default)]
struct Fills {
    /// Rows that took the list up to a place.
    taken: Vec<u32>,
    /// Rows that took it beyond a place but store the label there.
    stored: Vec<u32>,
    /// Rows that took the label of a place, and rightly.
    hits: Vec<u32>,
}

impl Fills {
    fn add(&mut self, rule: &Prepared<'_>, chosen: &Chosen) {
        if chosen.fills.is_empty() {
            return;
        }
        for counts in [&mut self.taken, &mut self.stored, &mut self.hits] {
            counts.resize(rule.unstored.len() + 1, 0);
        }
        chosen.fills.iter().for_each(|fill| self.taken[fill.length as usize] += 1);
        chosen.places.iter().for_each(|&place| self.stored[place as usize] += 1);
    }

    /// Counts the true labels among those a row took.
    fn add_hits(
        &mut self,
        rule: &Prepared<'_>,
        marginals: &Marginals,
        truth: &Truth,
        fill: &Fill,
        places: &[u32],
    ) {
        for &label in truth.row(fill.local) {
            let column = marginals.column(label);
            let place = rule.unstored.place(marginals.grouping().code(column), || column);
            let taken = place.filter(|&place| place < fill.length);
            if let Some(place) = taken.filter(|place| !places[fill.stored.clone()].contains(place)) {
                self.hits[place as usize] += 1;
            }
        }
    }

    /// Adds these to counts by column, and forgets them.
    fn flush(&mut self, rule: &Prepared<'_>, tallies: &mut Tallies) {
        let mut beyond = 0;
        for place in (0..self.taken.len().saturating_sub(1)).rev() {
            beyond += self.taken[place + 1];
            let column = tallies.place(rule.unstored.get(place).column);
            tallies.counts[column] += both(beyond - self.stored[place], self.hits[place]);
        }
        for counts in [&mut self.taken, &mut self.stored, &mut self.hits] {
            counts.clear();
        }
    }
}

/// How often each column was predicted, and was so rightly.
struct Tallies {
    /// Columns that are told apart. All others are counted as one, behind them, which nobody asks for.
    columns: usize,
    /// Both in one word ([`both`]), because both are counted at once. A shard has fewer rows than a half counts to (see
    /// `Shard::MOST_ROWS`).
    counts: Zeroed<u64>,
    /// With very many columns each count would wait for memory. So they are collected here first, room for [`PENDING`] of
    /// each stretch of columns: the place in it, and in the last bit whether it was right.
    pending: Vec<u16>,
    /// How many each stretch has.
    lengths: Vec<u16>,
}

/// How often a column was predicted, in the lower half, and was so rightly, in the upper one.
#[inline]
fn both(predicted: u32, hits: u32) -> u64 {
    u64::from(predicted) | u64::from(hits) << u32::BITS
}

/// Columns of a stretch: their counts fit the cache of a core.
const STRETCH: usize = 1 << 15;

/// Counts collected before they are added: several for each cache line of a stretch.
const PENDING: usize = 1 << 14;

impl Tallies {
    fn new(columns: usize) -> Tallies {
        let stretches = (columns + 1).div_ceil(STRETCH);
        let collected = if stretches > 4 { stretches } else { 0 };
        Tallies {
            columns,
            counts: Zeroed::new(columns + 1),
            pending: vec![0; collected * PENDING],
            lengths: vec![0; collected],
        }
    }

    /// Where a column is counted.
    #[inline]
    fn place(&self, column: u32) -> usize {
        (column as usize).min(self.columns)
    }

    /// Counts columns, each with 1 if it was right and 0 otherwise.
    #[inline(always)]
    fn add(&mut self, each: impl Iterator<Item = (u32, u32)>) {
        // As slices: then where they are is not asked again for every entry.
        let Tallies { columns, counts, pending, lengths } = self;
        let (counts, pending, lengths): (&mut [u64], &mut [u16], &mut [u16]) = (counts, pending, lengths);
        let each = each.map(|(column, hit)| ((column as usize).min(*columns), hit));
        if lengths.is_empty() {
            each.for_each(|(place, hit)| counts[place] += both(1, hit));
            return;
        }
        for (place, hit) in each {
            let stretch = place / STRETCH;
            let length = &mut lengths[stretch];
            let code = ((place % STRETCH) << 1) as u16 | hit as u16;
            pending[stretch * PENDING + usize::from(*length)] = code;
            *length += 1;
            if usize::from(*length) == PENDING {
                flush(stretch, counts, pending, length);
            }
        }
    }

    /// Adds what is pending.
    fn flush(&mut self) {
        let Tallies { counts, pending, lengths, .. } = self;
        let stretches = lengths.iter_mut().enumerate();
        stretches.for_each(|(stretch, length)| flush(stretch, counts, pending, length));
    }
}

/// Adds what is pending of a stretch.
#[inline(never)]
fn flush(stretch: usize, counts: &mut [u64], pending: &[u16], length: &mut u16) {
    let place = |code: &u16| usize::from(code >> 1);
    let counts = &mut counts[stretch * STRETCH..];
    let pending = &pending[stretch * PENDING..][..std::mem::take(length).into()];
    for (turn, &code) in pending.iter().enumerate() {
        bring_later(counts, pending, turn, place);
        counts[place(&code)] += both(1, (code & 1).into());
    }
}

/// Columns that one thread adds up at a time.
const COLUMNS: usize = 1 << 14;

/// Makes `counts` what all threads counted, by column. The counters are as new afterwards.
pub(super) fn total(rule: &Prepared<'_>, parts: &mut [Counter], counts: &mut Counts) {
    parts.par_iter_mut().for_each(|part| {
        part.tallies.flush();
        part.fills.flush(rule, &mut part.tallies);
    });
    let predicted = counts.predicted.par_chunks_mut(COLUMNS);
    let hits = counts.true_positives.par_chunks_mut(COLUMNS);
    predicted.zip(hits).enumerate().for_each(|(at, (predicted, hits))| {
        predicted.fill(0);
        hits.fill(0);
        for part in &*parts {
            let columns = at * COLUMNS..at * COLUMNS + hits.len();
            let counted = predicted.iter_mut().zip(&mut *hits).zip(&part.tallies.counts[columns.clone()]);
            for ((predicted, hits), counted) in counted {
                *predicted += counted & u64::from(u32::MAX);
                *hits += counted >> u32::BITS;
            }
            let expected = part.expected.get(columns).unwrap_or(&[]);
            hits.iter_mut().zip(expected).for_each(|(hits, expected)| *hits += expected);
        }
    });
    for part in parts {
        part.tallies.counts.par_chunks_mut(COLUMNS).for_each(|counts| counts.fill(0));
        part.expected.par_chunks_mut(COLUMNS).for_each(|sums| sums.fill(0));
    }
}
