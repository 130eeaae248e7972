//! Memory for the rows of a rank, known before loading and also for ranks that do not exist yet.

use std::ops::Range;

use super::open::{ColumnMeaning, open_with_labels};
use super::plan::LoadOptions;
use crate::shard::EntryColumns;
use crate::store::{RowStarts, StoreError};

/// Memory that a command needs on each rank in addition to the rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExtraMemory {
    pub bytes_per_row: u64,
    pub bytes_per_label: u64,
    /// Bytes for each label and thread.
    pub bytes_per_count: u64,
}

impl ExtraMemory {
    /// Returns the memory of passes that count: counts, and those that wait to be added.
    pub fn for_counting(labelled: bool) -> ExtraMemory {
        ExtraMemory { bytes_per_count: if labelled { 9 } else { 17 }, ..ExtraMemory::default() }
    }

    /// Adds the memory of a classifier's rules: as stored in the file, as rules, and as tables.
    pub fn with_rules(self, rules: u64) -> ExtraMemory {
        ExtraMemory { bytes_per_label: 28 * rules, ..self }
    }

    /// Returns the memory of a fit that keeps checkpoints, which hold a few bytes per label and rule.
    pub fn for_fitting(labelled: bool) -> ExtraMemory {
        ExtraMemory { bytes_per_label: 24, ..ExtraMemory::for_counting(labelled) }
    }
}

/// The size of one rank's rows.
pub(super) struct RankShare {
    rows: u64,
    entries: u64,
    /// `None` if the marginals stand in for labels.
    label_entries: Option<u64>,
}

impl RankShare {
    pub fn new(starts: &RowStarts, label_starts: Option<&RowStarts>) -> RankShare {
        RankShare {
            rows: starts.starts().len() as u64,
            entries: starts.entries(),
            label_entries: label_starts.map(RowStarts::entries),
        }
    }

    /// Returns the bytes that one pass reads.
    pub fn bytes_per_pass(&self, labels: u64) -> u64 {
        let width = EntryColumns::width(labels as usize) as u64;
        let hits = self.label_entries.map_or(0, |_| self.entries / 8);
        self.entries * (width + 4) + self.rows * 8 + hits
    }

    /// Returns the bytes that the rank needs, including the extra memory of the command.
    pub fn memory_bytes(&self, labels: u64, extra: ExtraMemory, threads: u64) -> u64 {
        let held =
            self.bytes_per_pass(labels) + self.label_entries.map_or(0, |entries| entries * 8 + self.rows * 8);
        held.saturating_add(working_memory(labels, extra.bytes_per_count, threads))
            .saturating_add(self.rows.saturating_mul(extra.bytes_per_row))
            .saturating_add(labels.saturating_mul(extra.bytes_per_label))
    }
}

/// Returns the bytes for the counts of each thread, and for rules, tensors and gradients, which are vectors over the
/// labels. The constants are rounded measurements.
fn working_memory(labels: u64, bytes_per_count: u64, threads: u64) -> u64 {
    threads * (labels * bytes_per_count + (8 << 20)) + labels * 200 + (16 << 20)
}

/// Returns the bytes that each of `ranks` ranks with `threads` threads each would need. Reads row starts, but no entries.
pub fn memory_of_each_rank(
    options: &LoadOptions,
    extra: ExtraMemory,
    ranks: usize,
    threads: usize,
) -> Result<Vec<u64>, StoreError> {
    let (marginals, labels) =
        open_with_labels(&options.marginals, options.labels.as_ref(), ColumnMeaning::Labels)?;
    let need = |rows: Range<u64>| {
        let starts = marginals.row_starts(rows.clone())?;
        let label_starts = labels.as_ref().map(|labels| labels.row_starts(rows)).transpose()?;
        let share = RankShare::new(&starts, label_starts.as_ref());
        Ok(share.memory_bytes(marginals.shape().1, extra, threads as u64))
    };
    marginals.balanced_row_ranges(ranks)?.into_iter().map(need).collect()
}
