//! The counts of one rule by one thread.

use std::ops::Range;

use rayon::prelude::*;

use super::prepared_rule::PreparedRule;
use super::select::{ChosenEntry, ChosenLabels, Selector, ZeroLabelPrefix};
use super::zero_labels::Place;
use crate::buffers::{ZeroedArray, prefetch::prefetch_ahead};
use crate::measure::ConfusionCounts;
use crate::shard::{Column, LabelId, Shard, Targets};

/// Counts by column, in memory that no other thread writes to.
pub(super) struct ThreadCounter {
    selector: Selector,
    chosen: ChosenLabels,
    column_counts: ColumnCounts,
    zero_label_counts: ZeroLabelCounts,
    /// Sums of marginals if these stand in for labels.
    expected: ZeroedArray<u64>,
}

/// Rows whose labels are chosen before any is counted, so that look-ups overlap.
const BATCH_ROWS: usize = 32;

impl ThreadCounter {
    /// Returns zero counts of the first `columns` columns.
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

    /// Counts the labels that the rule chooses for a range of rows.
    pub fn add(&mut self, shard: &Shard, rule: &PreparedRule<'_>, rows: Range<usize>) {
        let marginals = &shard.marginals;
        for first in rows.clone().step_by(BATCH_ROWS) {
            let batch = first..(first + BATCH_ROWS).min(rows.end);
            let entries = marginals.entry_range(batch.clone());
            if let Targets::Labels(true_labels) = &shard.targets {
                true_labels.hits().prefetch_entries(entries.clone());
            }
            marginals.prefetch_entries(entries);
            self.chosen.clear();
            self.selector.choose_batch(rule, marginals, batch, &mut self.chosen);
            let entries = &self.chosen.entries;
            match &shard.targets {
                Targets::Labels(true_labels) => {
                    let hit = |one: &ChosenEntry| (one.column, true_labels.hits().get(one.entry));
                    self.column_counts.add(entries.iter().map(hit));
                }
                Targets::Expected(fixed) => {
                    self.column_counts.add(entries.iter().map(|one| (one.column, 0)));
                    for &ChosenEntry { column, entry } in entries {
                        let slot = self.column_counts.slot(column);
                        self.expected[slot] += fixed.encode_f32(marginals.value(entry));
                    }
                }
            }
            self.zero_label_counts.add(rule, shard, &self.chosen);
        }
    }
}

/// Counts of zero labels by their place in the rule's list.
#[derive(Default)]
struct ZeroLabelCounts {
    /// Rows whose prefix of the list has this length.
    prefix_ends: Vec<u32>,
    /// Rows that store the label of a place in their prefix.
    excluded: Vec<u32>,
    /// Rows that chose the label of a place and have it as a true label.
    hits: Vec<u32>,
}

impl ZeroLabelCounts {
    fn add(&mut self, rule: &PreparedRule<'_>, shard: &Shard, chosen: &ChosenLabels) {
        if chosen.zero_labels.is_empty() {
            return;
        }
        for counts in [&mut self.prefix_ends, &mut self.excluded, &mut self.hits] {
            counts.resize(rule.zero_labels.len() + 1, 0);
        }
        chosen.stored_places.iter().for_each(|&Place(place)| self.excluded[place as usize] += 1);
        let marginals = &shard.marginals;
        for ZeroLabelPrefix { local, length, stored_places } in &chosen.zero_labels {
            self.prefix_ends[*length as usize] += 1;
            let stored = &chosen.stored_places[stored_places.clone()];
            for &label in shard.true_labels(*local) {
                let column = marginals.column(LabelId(label));
                let place = rule.zero_labels.place(marginals.coding().code(column), || column);
                if let Some(place) = place.filter(|place| place.0 < *length && !stored.contains(place)) {
                    self.hits[place.0 as usize] += 1;
                }
            }
        }
    }

    /// Moves these counts to counts by column.
    fn flush(&mut self, rule: &PreparedRule<'_>, column_counts: &mut ColumnCounts) {
        let mut beyond = 0;
        for place in (0..self.prefix_ends.len().saturating_sub(1)).rev() {
            beyond += self.prefix_ends[place + 1];
            let slot = column_counts.slot(rule.zero_labels.get(Place(place as u32)).column);
            column_counts.counts[slot] += pack_counts(beyond - self.excluded[place], self.hits[place]);
        }
        for counts in [&mut self.prefix_ends, &mut self.excluded, &mut self.hits] {
            counts.clear();
        }
    }
}

/// Predictions and hits of each column.
struct ColumnCounts {
    /// Columns counted on their own. The others share one slot behind them, which is not read.
    columns: usize,
    /// Both counts in one word ([`pack_counts`]); `Shard::MAX_ROWS` fits a half.
    counts: ZeroedArray<u64>,
    /// With very many columns each increment would wait for memory. Increments are collected here first, up to
    /// [`PENDING_PER_STRETCH`] for each stretch of columns: the slot in the stretch, and in the last bit the hit.
    pending: Vec<u16>,
    /// Number of pending increments of each stretch.
    lengths: Vec<u16>,
}

/// Packs predictions into the lower half of a word and hits into the upper one.
#[inline]
fn pack_counts(predicted: u32, hits: u32) -> u64 {
    u64::from(predicted) | u64::from(hits) << u32::BITS
}

/// Columns of a stretch, whose counts fit a core's cache.
const STRETCH_COLUMNS: usize = 1 << 15;

/// Increments collected before they are added: several for each cache line of a stretch.
const PENDING_PER_STRETCH: usize = 1 << 14;

impl ColumnCounts {
    fn new(columns: usize) -> ColumnCounts {
        let stretches = (columns + 1).div_ceil(STRETCH_COLUMNS);
        let collecting = if stretches > 4 { stretches } else { 0 };
        ColumnCounts {
            columns,
            counts: ZeroedArray::new(columns + 1),
            pending: vec![0; collecting * PENDING_PER_STRETCH],
            lengths: vec![0; collecting],
        }
    }

    /// Returns the subscript of a column's counts.
    #[inline]
    fn slot(&self, column: Column) -> usize {
        column.index().min(self.columns)
    }

    /// Counts columns, each with 1 for a hit and 0 otherwise.
    #[inline(always)]
    fn add(&mut self, each: impl Iterator<Item = (Column, u32)>) {
        // As slices, so that their addresses are not read again for every entry.
        let ColumnCounts { columns, counts, pending, lengths } = self;
        let (counts, pending, lengths): (&mut [u64], &mut [u16], &mut [u16]) = (counts, pending, lengths);
        let each = each.map(|(column, hit)| (column.index().min(*columns), hit));
        if lengths.is_empty() {
            each.for_each(|(slot, hit)| counts[slot] += pack_counts(1, hit));
            return;
        }
        for (slot, hit) in each {
            let stretch = slot / STRETCH_COLUMNS;
            let length = &mut lengths[stretch];
            let increment = ((slot % STRETCH_COLUMNS) << 1) as u16 | hit as u16;
            pending[stretch * PENDING_PER_STRETCH + usize::from(*length)] = increment;
            *length += 1;
            if usize::from(*length) == PENDING_PER_STRETCH {
                flush_stretch(stretch, counts, pending, length);
            }
        }
    }

    /// Adds all pending increments.
    fn flush(&mut self) {
        let ColumnCounts { counts, pending, lengths, .. } = self;
        let stretches = lengths.iter_mut().enumerate();
        stretches.for_each(|(stretch, length)| flush_stretch(stretch, counts, pending, length));
    }
}

/// Adds the pending increments of a stretch.
#[inline(never)]
fn flush_stretch(stretch: usize, counts: &mut [u64], pending: &[u16], length: &mut u16) {
    let slot = |increment: &u16| usize::from(increment >> 1);
    let counts = &mut counts[stretch * STRETCH_COLUMNS..];
    let pending = &pending[stretch * PENDING_PER_STRETCH..][..std::mem::take(length).into()];
    for (turn, increment) in pending.iter().enumerate() {
        prefetch_ahead(counts, pending, turn, slot);
        counts[slot(increment)] += pack_counts(1, (increment & 1).into());
    }
}

/// Columns that one thread sums at a time.
const CHUNK_COLUMNS: usize = 1 << 14;

/// Makes `counts` the sums over all threads, by column, and resets the counters.
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
