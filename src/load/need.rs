//! How much memory a rank's share of the rows takes: known before loading, also for ranks that are not there yet.

use super::shard::{Extra, LoadOptions, same_shape};
use crate::shard::Columns;
use crate::store::{Hdf5File, MatrixFile, RowStarts, StoreError};

/// What one rank is going to hold.
pub(crate) struct Share {
    rows: u64,
    entries: u64,
    /// `None` where the marginals stand in for labels.
    label_entries: Option<u64>,
}

impl Share {
    pub fn new(starts: &RowStarts, label_starts: Option<&RowStarts>) -> Share {
        Share {
            rows: starts.starts().len() as u64,
            entries: starts.entries(),
            label_entries: label_starts.map(RowStarts::entries),
        }
    }

    /// Bytes that one pass reads.
    pub fn pass(&self, labels: u64) -> u64 {
        let width = Columns::width(labels as usize) as u64;
        let hits = self.label_entries.map_or(0, |_| self.entries / 8);
        self.entries * (width + 4) + self.rows * 8 + hits
    }

    /// Bytes that the rank needs, with what the command makes of the rows.
    pub fn need(&self, labels: u64, extra: Extra, threads: u64) -> u64 {
        let held = self.pass(labels) + self.label_entries.map_or(0, |entries| entries * 8 + self.rows * 8);
        held.saturating_add(working_memory(labels, extra.bytes_a_count, threads))
            .saturating_add(self.rows.saturating_mul(extra.bytes_a_row))
            .saturating_add(labels.saturating_mul(extra.bytes_a_label))
    }
}

/// Bytes that a rank needs beside its rows: what each thread counts in, and rules, tensors and gradients, as
/// vectors over the labels. The last are a round number of what was measured.
fn working_memory(labels: u64, bytes_a_count: u64, threads: u64) -> u64 {
    threads * (labels * bytes_a_count + (8 << 20)) + labels * 200 + (16 << 20)
}

/// Bytes that each of so many ranks, with so many threads each, would need. Reads where rows start, and no entry.
pub fn needs_of(
    options: &LoadOptions,
    extra: Extra,
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
        Ok(Share::new(&starts, label_starts.as_ref()).need(marginals.shape().1, extra, threads as u64))
    };
    marginals.balanced(ranks)?.into_iter().map(need).collect()
}
