//! How much memory a rank's share of the rows takes: known before loading, also for ranks that are not there yet.

use super::shard::{ExtraMemory, LoadOptions, same_shape};
use crate::shard::EntryColumns;
use crate::store::{Hdf5File, MatrixFile, RowStarts, StoreError};

/// What one rank is going to hold.
pub(crate) struct RankShare {
    rows: u64,
    entries: u64,
    /// `None` where the marginals stand in for labels.
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

    /// Bytes that one pass reads.
    pub fn bytes_per_pass(&self, labels: u64) -> u64 {
        let width = EntryColumns::width(labels as usize) as u64;
        let hits = self.label_entries.map_or(0, |_| self.entries / 8);
        self.entries * (width + 4) + self.rows * 8 + hits
    }

    /// Bytes that the rank needs, with what the command makes of the rows.
    pub fn memory_bytes(&self, labels: u64, extra: ExtraMemory, threads: u64) -> u64 {
        let held =
            self.bytes_per_pass(labels) + self.label_entries.map_or(0, |entries| entries * 8 + self.rows * 8);
        held.saturating_add(working_memory(labels, extra.bytes_per_count, threads))
            .saturating_add(self.rows.saturating_mul(extra.bytes_per_row))
            .saturating_add(labels.saturating_mul(extra.bytes_per_label))
    }
}

/// Bytes that a rank needs beside its rows: what each thread counts in, and rules, tensors and gradients, as
/// vectors over the labels. The last are a round number of what was measured.
fn working_memory(labels: u64, bytes_per_count: u64, threads: u64) -> u64 {
    threads * (labels * bytes_per_count + (8 << 20)) + labels * 200 + (16 << 20)
}

/// Bytes that each of so many ranks, with so many threads each, would need. Reads where rows start, and no entry.
pub fn memory_of_each_rank(
    options: &LoadOptions,
    extra: ExtraMemory,
    ranks: usize,
    threads: usize,
) -> Result<Vec<u64>, StoreError> {
    let file = Hdf5File::open(&options.marginals.file)?;
    let marginals = MatrixFile::open(&file, options.marginals.clone())?;
    let labels_file = options.labels.as_ref().map(|location| Hdf5File::open(&location.file)).transpose()?;
    let labels = match labels_file.as_ref().zip(options.labels.clone()) {
        Some((file, location)) => Some(MatrixFile::open(file, location)?),
        None => None,
    };
    if let Some(labels) = &labels {
        same_shape(&marginals, labels)?;
    }
    let need = |rows: std::ops::Range<u64>| {
        let starts = marginals.row_starts(rows.clone())?;
        let label_starts = labels.as_ref().map(|labels| labels.row_starts(rows)).transpose()?;
        Ok(RankShare::new(&starts, label_starts.as_ref()).memory_bytes(
            marginals.shape().1,
            extra,
            threads as u64,
        ))
    };
    marginals.balanced_row_ranges(ranks)?.into_iter().map(need).collect()
}
