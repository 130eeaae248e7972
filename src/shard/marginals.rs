//! Stored marginals in the layout that a pass reads: as few bytes per entry as possible.

use std::ops::Range;

use super::column_coding::ColumnCoding;
use super::column_order::{ColumnOrder, LabelFrequencies};
use super::entry_columns::{EntryColumns, Offsets};
use super::index::{Code, Column, EntryIndex, LabelId, Position};
use super::row_blocks::RowBlocks;
use crate::sparse::{Csr, RowsView};

/// Entries, or padding, behind every row: kernels read this many at a time.
pub const PADDING: usize = 16;

/// Stretches of rows sampled to find the frequent labels, and their entries in total.
const SAMPLED_STRETCHES: u64 = 32;
const SAMPLED_ENTRIES: u64 = 1 << 21;

/// The stored marginals of a range of rows. Labels ascend in each row.
pub struct Marginals {
    labels: usize,
    starts: Vec<u64>,
    columns: EntryColumns,
    values: Vec<f32>,
    order: Option<ColumnOrder>,
    blocks: RowBlocks,
    longest_row: usize,
}

/// The entries of one row.
#[derive(Clone, Copy)]
pub struct Row<'s> {
    columns: &'s EntryColumns,
    values: &'s [f32],
    start: usize,
    length: usize,
}

impl<'s> Row<'s> {
    /// Returns the row of `length` entries from `start` on.
    ///
    /// # Panics
    /// If fewer than [`PADDING`] entries follow.
    #[inline]
    pub fn new(columns: &'s EntryColumns, values: &'s [f32], start: usize, length: usize) -> Self {
        let end = start + length + PADDING;
        assert!(columns.codes().len() >= end && values.len() >= end, "rows are followed by padding");
        Row { columns, values, start, length }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the index, among the entries of all rows, of the entry at `position`.
    #[inline]
    pub fn entry(&self, position: Position) -> EntryIndex {
        EntryIndex(self.start + position.index())
    }

    #[inline]
    pub fn column(&self, position: Position) -> Column {
        self.columns.get(self.entry(position))
    }

    #[inline]
    pub fn value(&self, position: Position) -> f32 {
        self.values()[position.index()]
    }

    /// Writes columns and marginals of the entries at `positions`.
    #[inline]
    pub fn gather(&self, positions: &[u32], columns: &mut [u32], values: &mut [f32]) {
        let (coding, codes) = (self.coding(), self.codes());
        values.iter_mut().zip(positions).for_each(|(to, &at)| *to = self.values()[at as usize]);
        let columns = columns.iter_mut().zip(positions.iter().map(|&at| at as usize));
        // The kind of offsets is matched once, not for every entry.
        match self.offsets() {
            Offsets::None => columns.for_each(|(to, at)| *to = codes[at].into()),
            Offsets::Bytes(offsets) => {
                columns.for_each(|(to, at)| *to = coding.column(Code(codes[at]), offsets[at].into()).0);
            }
            Offsets::Words(offsets) => {
                columns.for_each(|(to, at)| *to = coding.column(Code(codes[at]), offsets[at]).0);
            }
        }
    }

    /// Returns whether the row stores this column.
    #[inline(always)]
    pub fn has_column(&self, column: Column) -> bool {
        let coding = self.columns.coding();
        let code = coding.code(column).0;
        // Without an early exit, so that the compiler vectorises it.
        let found = self.codes().iter().fold(false, |found, &other| found | (other == code));
        let same = |position: u32| self.column(Position(position)) == column;
        found && (!coding.has_shared_codes() || (0..self.length as u32).any(same))
    }

    /// Returns the offsets that tell columns of one code apart.
    #[inline]
    pub fn offsets(&self) -> Offsets<&'s [u8], &'s [u16]> {
        self.columns.offsets(self.start..self.start + self.length)
    }

    /// Returns the offsets of the row and of the padding behind it.
    #[inline]
    pub fn padded_offsets(&self) -> Offsets<&'s [u8], &'s [u16]> {
        self.columns.offsets(self.start..self.start + self.length + PADDING)
    }

    #[inline]
    pub fn coding(&self) -> ColumnCoding {
        self.columns.coding()
    }

    #[inline]
    pub fn codes(&self) -> &'s [u16] {
        &self.columns.codes()[self.start..self.start + self.length]
    }

    #[inline]
    pub fn values(&self) -> &'s [f32] {
        &self.values[self.start..self.start + self.length]
    }

    /// Returns codes and values of the row and of everything behind it, which is at least the padding.
    #[inline]
    pub fn padded(&self) -> (&'s [u16], &'s [f32]) {
        (&self.columns.codes()[self.start..], &self.values[self.start..])
    }
}

impl Marginals {
    /// Returns marginals whose columns are still labels, ascending in each row (see [`Marginals::renumber`]).
    /// `columns` and `values` are followed by padding; `starts` begins with 0.
    pub(crate) fn new(
        labels: usize,
        starts: Vec<u64>,
        columns: EntryColumns,
        values: Vec<f32>,
        blocks: RowBlocks,
    ) -> Marginals {
        let longest_row = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0) as usize;
        Marginals { labels, starts, columns, values, order: None, blocks, longest_row }
    }

    /// Counts how often a sample of the rows stores each label, before [`Marginals::renumber`]. `first` is the global
    /// number of the first row; all ranks together have `rows` rows with `entries` entries. The sampled rows depend on
    /// these numbers only, so the sum over ranks does not depend on their number.
    pub(crate) fn sample_label_counts(&self, first: u64, rows: u64, entries: u64) -> Vec<u64> {
        let mut seen = vec![0; self.labels];
        let each = (rows as u128 * u128::from(SAMPLED_ENTRIES / SAMPLED_STRETCHES)
            / u128::from(entries.max(1))) as u64
            + 1;
        let here = first..first + self.rows() as u64;
        let mut done = here.start;
        for stretch in 0..SAMPLED_STRETCHES {
            let start = (u128::from(rows) * u128::from(stretch) / u128::from(SAMPLED_STRETCHES)) as u64;
            let (start, end) = (start.max(done), (start + each).min(here.end));
            if start < end {
                self.entry_range((start - first) as usize..(end - first) as usize)
                    .for_each(|entry| seen[self.columns.label(EntryIndex(entry)).index()] += 1);
            }
            done = done.max(end);
        }
        seen
    }

    /// Replaces labels by the columns of an order that suits passes. To be called once, and only with at least
    /// [`ColumnOrder::MIN_LABELS`] labels.
    pub(crate) fn renumber(&mut self, frequencies: &LabelFrequencies) {
        let Marginals { starts, columns, blocks, .. } = self;
        let order = ColumnOrder::new(frequencies);
        columns.renumber(blocks, |row| starts[row] as usize, order.columns_by_label());
        self.order = Some(order);
    }

    pub fn labels(&self) -> usize {
        self.labels
    }

    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn entries(&self) -> usize {
        self.starts[self.rows()] as usize
    }

    /// Returns the entries of a range of rows.
    #[inline]
    pub fn entry_range(&self, rows: Range<usize>) -> Range<usize> {
        self.starts[rows.start] as usize..self.starts[rows.end] as usize
    }

    /// Prefetches the offsets of a range of entries, of which a pass reads only a few.
    pub fn prefetch_entries(&self, entries: Range<usize>) {
        self.columns.prefetch_entries(entries);
    }

    /// Returns the largest number of entries in a row.
    pub fn longest_row(&self) -> usize {
        self.longest_row
    }

    pub fn blocks(&self) -> &RowBlocks {
        &self.blocks
    }

    /// Returns the label of every column; `None` if columns are labels.
    pub fn labels_by_column(&self) -> Option<&[u32]> {
        self.order.as_ref().map(ColumnOrder::labels_by_column)
    }

    /// Returns the column of every label; `None` if columns are labels.
    pub fn columns_by_label(&self) -> Option<&[u32]> {
        self.order.as_ref().map(ColumnOrder::columns_by_label)
    }

    #[inline]
    pub fn label(&self, column: Column) -> LabelId {
        self.order.as_ref().map_or(LabelId(column.0), |order| order.label(column))
    }

    #[inline]
    pub fn column(&self, label: LabelId) -> Column {
        self.order.as_ref().map_or(Column(label.0), |order| order.column(label))
    }

    #[inline]
    pub fn row(&self, local: usize) -> Row<'_> {
        let entries = self.entry_range(local..local + 1);
        Row::new(&self.columns, &self.values, entries.start, entries.len())
    }

    /// Returns labels and marginals of a row, labels ascending.
    pub fn labels_and_marginals(&self, local: usize) -> impl Iterator<Item = (LabelId, f32)> + '_ {
        let entries = self.entry_range(local..local + 1);
        entries.map(move |at| (self.label(self.columns.get(EntryIndex(at))), self.values[at]))
    }

    #[inline]
    pub fn coding(&self) -> ColumnCoding {
        self.columns.coding()
    }

    /// Returns the marginal of an entry.
    #[inline]
    pub fn value(&self, entry: EntryIndex) -> f32 {
        self.values[entry.0]
    }
}

impl From<&Csr> for Marginals {
    fn from(matrix: &Csr) -> Marginals {
        let starts: Vec<u64> = RowsView::from(matrix).starts.iter().map(|&at| at as u64).collect();
        let (labels, indices) = (matrix.cols(), matrix.indices());
        let (blocks, columns) = (RowBlocks::new(&starts), EntryColumns::from_labels(labels, indices));
        let mut values = matrix.data().to_vec();
        values.extend([0.0; PADDING]);
        let mut marginals = Marginals::new(labels, starts, columns, values, blocks);
        if labels >= ColumnOrder::MIN_LABELS {
            let rows = marginals.rows() as u64;
            let positives = marginals.sample_label_counts(0, rows, marginals.entries() as u64);
            marginals.renumber(&LabelFrequencies { hit_mass: vec![0; labels], positives });
        }
        marginals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of one entry each, whose label is the number of the row.
    fn rows(range: Range<u64>) -> Marginals {
        let labels: Vec<u32> = range.map(|row| row as u32).collect();
        let values = vec![0.5; labels.len()];
        Marginals::from(&Csr::new((labels.len(), 1000), (0..=labels.len()).collect(), labels, values))
    }

    #[test]
    fn the_sample_does_not_depend_on_the_distribution_of_rows() {
        // From so many entries that few rows are sampled to so few that all are.
        for (entries, wanted) in [(1 << 30, 32), (1 << 26, 32), (1 << 23, 256), (1000, 1000)] {
            let whole = rows(0..1000).sample_label_counts(0, 1000, entries);
            assert_eq!(whole.iter().sum::<u64>(), wanted, "{entries} entries");
            assert!(whole.iter().all(|&seen| seen <= 1), "a row twice");
            for ends in [vec![1000], vec![1, 500, 501, 1000], vec![0, 333, 333, 1000], vec![31, 62, 93, 1000]]
            {
                let mut first = 0;
                let mut sum = vec![0; 1000];
                for end in ends {
                    let part = rows(first..end).sample_label_counts(first, 1000, entries);
                    sum.iter_mut().zip(part).for_each(|(sum, seen)| *sum += seen);
                    first = end;
                }
                assert!(sum == whole, "{entries} entries");
            }
        }
    }
}
