//! One thread's counts of one rule.

use std::ops::Range;

use rayon::prelude::*;

use super::prepared_rule::PreparedRule;
use super::select::{ChosenEntry, ChosenLabels, Selector, ZeroLabelPrefix};
use crate::buffers::{ZeroedArray, prefetch::prefetch_ahead};
use crate::measure::ConfusionCounts;
use crate::shard::{Marginals, Shard, Targets, TrueLabels};

/// Counts by column. Nothing else is near them in memory, so that threads do not slow each other down.
pub(super) struct ThreadCounter {
    selector: Selector,
    chosen: ChosenLabels,
    column_counts: ColumnCounts,
    zero_label_counts: ZeroLabelCounts,
    /// Sums of marginals, where those stand in for labels.
    expected: ZeroedArray<u64>,
}

/// Rows whose labels are chosen before any is counted: many look-ups are then under way at once.
const BATCH_ROWS: usize = 32;

impl ThreadCounter {
    /// One that tells the first so many columns apart.
    pub fn new(shard: &Shard, columns: usize) -> ThreadCounter {
        ThreadCounter {
            selector: Selector::default(),
            chosen: ChosenLabels::default(),
            column_counts: ColumnCounts::new(columns),
            zero_label_counts: ZeroLabelCounts::default(),
            expected: match &shard.targets {
                Targets::Labels(_) => ZeroedArray::new(0),
                Targets::Expected(_) => ZeroedArray::new(columns + 1),
            },
        }
    }

    pub fn add(&mut self, shard: &Shard, rule: &PreparedRule<'_>, rows: Range<usize>) {
        let marginals = &shard.marginals;
        for first in rows.clone().step_by(BATCH_ROWS) {
            let batch = first..(first + BATCH_ROWS).min(rows.end);
            let entries = marginals.first_entry(batch.start)..marginals.first_entry(batch.end);
            if let Targets::Labels(true_labels) = &shard.targets {
                true_labels.hits().prefetch_entries(entries.clone());
            }
            marginals.prefetch_entries(entries);
            self.chosen.clear();
            self.selector.choose_batch(rule, marginals, batch, &mut self.chosen);
            match &shard.targets {
                Targets::Labels(true_labels) => {
                    let hit = |one: &ChosenEntry| (one.column, true_labels.hits().get(one.entry));
                    self.column_counts.add(self.chosen.entries.iter().map(hit));
                    self.zero_label_counts.add(rule, &self.chosen);
                    for prefix in &self.chosen.zero_labels {
                        self.zero_label_counts.add_hits(
                            rule,
                            marginals,
                            true_labels,
                            prefix,
                            &self.chosen.stored_places,
                        );
                    }
                }
                Targets::Expected(fixed) => {
                    self.column_counts.add(self.chosen.entries.iter().map(|one| (one.column, 0)));
                    for &ChosenEntry { column, entry } in &self.chosen.entries {
                        let place = self.column_counts.slot(column);
                        self.expected[place] += fixed.encode_f32(marginals.values()[entry]);
                    }
                    // What is not stored has probability 0 and adds nothing to what is expected.
                    self.zero_label_counts.add(rule, &self.chosen);
                }
            }
        }
    }
}

/// Counts of labels that rows do not store, by their place in the rule's list of those.
#[derive(Default)]
struct ZeroLabelCounts {
    /// Rows that took the list up to a place.
    prefix_ends: Vec<u32>,
    /// Rows that took it beyond a place but store the label there.
    excluded: Vec<u32>,
    /// Rows that took the label of a place, and rightly.
    hits: Vec<u32>,
}

impl ZeroLabelCounts {
    fn add(&mut self, rule: &PreparedRule<'_>, chosen: &ChosenLabels) {
        if chosen.zero_labels.is_empty() {
            return;
        }
        for counts in [&mut self.prefix_ends, &mut self.excluded, &mut self.hits] {
            counts.resize(rule.zero_labels.len() + 1, 0);
        }
        chosen.zero_labels.iter().for_each(|prefix| self.prefix_ends[prefix.length as usize] += 1);
        chosen.stored_places.iter().for_each(|&place| self.excluded[place as usize] += 1);
    }

    /// Counts the true labels among those a row took.
    fn add_hits(
        &mut self,
        rule: &PreparedRule<'_>,
        marginals: &Marginals,
        true_labels: &TrueLabels,
        prefix: &ZeroLabelPrefix,
        places: &[u32],
    ) {
        for &label in true_labels.row(prefix.local) {
            let column = marginals.column(label);
            let place = rule.zero_labels.place(marginals.coding().code(column), || column);
            let taken = place.filter(|&place| place < prefix.length);
            if let Some(place) = taken.filter(|place| !places[prefix.stored_places.clone()].contains(place)) {
                self.hits[place as usize] += 1;
            }
        }
    }

    /// Adds these to counts by column, and forgets them.
    fn flush(&mut self, rule: &PreparedRule<'_>, column_counts: &mut ColumnCounts) {
        let mut beyond = 0;
        for place in (0..self.prefix_ends.len().saturating_sub(1)).rev() {
            beyond += self.prefix_ends[place + 1];
            let column = column_counts.slot(rule.zero_labels.get(place).column);
            column_counts.counts[column] += pack_counts(beyond - self.excluded[place], self.hits[place]);
        }
        for counts in [&mut self.prefix_ends, &mut self.excluded, &mut self.hits] {
            counts.clear();
        }
    }
}

/// How often each column was predicted, and was so rightly.
struct ColumnCounts {
    /// Columns that are told apart. All others are counted as one, behind them, which nobody asks for.
    columns: usize,
    /// Both in one word ([`pack_counts`]), because both are counted at once. A shard has fewer rows than a half counts to (see
    /// `Shard::MAX_ROWS`).
    counts: ZeroedArray<u64>,
    /// With very many columns each count would wait for memory. So they are collected here first, room for [`PENDING_PER_STRETCH`] of
    /// each stretch of columns: the place in it, and in the last bit whether it was right.
    pending: Vec<u16>,
    /// How many each stretch has.
    lengths: Vec<u16>,
}

/// How often a column was predicted, in the lower half, and was so rightly, in the upper one.
#[inline]
fn pack_counts(predicted: u32, hits: u32) -> u64 {
    u64::from(predicted) | u64::from(hits) << u32::BITS
}

/// Columns of a stretch: their counts fit the cache of a core.
const STRETCH_COLUMNS: usize = 1 << 15;

/// Counts collected before they are added: several for each cache line of a stretch.
const PENDING_PER_STRETCH: usize = 1 << 14;

impl ColumnCounts {
    fn new(columns: usize) -> ColumnCounts {
        let stretches = (columns + 1).div_ceil(STRETCH_COLUMNS);
        let collected = if stretches > 4 { stretches } else { 0 };
        ColumnCounts {
            columns,
            counts: ZeroedArray::new(columns + 1),
            pending: vec![0; collected * PENDING_PER_STRETCH],
            lengths: vec![0; collected],
        }
    }

    /// Where a column is counted.
    #[inline]
    fn slot(&self, column: u32) -> usize {
        (column as usize).min(self.columns)
    }

    /// Counts columns, each with 1 if it was right and 0 otherwise.
    #[inline(always)]
    fn add(&mut self, each: impl Iterator<Item = (u32, u32)>) {
        // As slices: then where they are is not asked again for every entry.
        let ColumnCounts { columns, counts, pending, lengths } = self;
        let (counts, pending, lengths): (&mut [u64], &mut [u16], &mut [u16]) = (counts, pending, lengths);
        let each = each.map(|(column, hit)| ((column as usize).min(*columns), hit));
        if lengths.is_empty() {
            each.for_each(|(place, hit)| counts[place] += pack_counts(1, hit));
            return;
        }
        for (place, hit) in each {
            let stretch = place / STRETCH_COLUMNS;
            let length = &mut lengths[stretch];
            let code = ((place % STRETCH_COLUMNS) << 1) as u16 | hit as u16;
            pending[stretch * PENDING_PER_STRETCH + usize::from(*length)] = code;
            *length += 1;
            if usize::from(*length) == PENDING_PER_STRETCH {
                flush_stretch(stretch, counts, pending, length);
            }
        }
    }

    /// Adds what is pending.
    fn flush(&mut self) {
        let ColumnCounts { counts, pending, lengths, .. } = self;
        let stretches = lengths.iter_mut().enumerate();
        stretches.for_each(|(stretch, length)| flush_stretch(stretch, counts, pending, length));
    }
}

/// Adds what is pending of a stretch.
#[inline(never)]
fn flush_stretch(stretch: usize, counts: &mut [u64], pending: &[u16], length: &mut u16) {
    let place = |code: &u16| usize::from(code >> 1);
    let counts = &mut counts[stretch * STRETCH_COLUMNS..];
    let pending = &pending[stretch * PENDING_PER_STRETCH..][..std::mem::take(length).into()];
    for (turn, &code) in pending.iter().enumerate() {
        prefetch_ahead(counts, pending, turn, place);
        counts[place(&code)] += pack_counts(1, (code & 1).into());
    }
}

/// Columns that one thread adds up at a time.
const CHUNK_COLUMNS: usize = 1 << 14;

/// Makes `counts` what all threads counted, by column. The counters are as new afterwards.
pub(super) fn sum_counters(
    rule: &PreparedRule<'_>,
    parts: &mut [ThreadCounter],
    counts: &mut ConfusionCounts,
) {
    parts.par_iter_mut().for_each(|part| {
        part.column_counts.flush();
        part.zero_label_counts.flush(rule, &mut part.column_counts);
    });
    let predicted = counts.predicted.par_chunks_mut(CHUNK_COLUMNS);
    let hits = counts.true_positives.par_chunks_mut(CHUNK_COLUMNS);
    predicted.zip(hits).enumerate().for_each(|(at, (predicted, hits))| {
        predicted.fill(0);
        hits.fill(0);
        for part in &*parts {
            let columns = at * CHUNK_COLUMNS..at * CHUNK_COLUMNS + hits.len();
            let counted =
                predicted.iter_mut().zip(&mut *hits).zip(&part.column_counts.counts[columns.clone()]);
            for ((predicted, hits), counted) in counted {
                *predicted += counted & u64::from(u32::MAX);
                *hits += counted >> u32::BITS;
            }
            let expected = part.expected.get(columns).unwrap_or(&[]);
            hits.iter_mut().zip(expected).for_each(|(hits, expected)| *hits += expected);
        }
    });
    for part in parts {
        part.column_counts.counts.par_chunks_mut(CHUNK_COLUMNS).for_each(|counts| counts.fill(0));
        part.expected.par_chunks_mut(CHUNK_COLUMNS).for_each(|sums| sums.fill(0));
    }
}
