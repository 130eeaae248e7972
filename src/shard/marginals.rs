//! Stored marginals the way a pass reads them: as few bytes an entry as can be.

use std::ops::Range;

use super::column_coding::ColumnCoding;
use super::column_order::{ColumnOrder, LabelFrequencies};
use super::entry_columns::{EntryColumns, Offsets};
use super::row_blocks::RowBlocks;
use crate::sparse::Csr;

/// Entries that follow every row, if only as padding: kernels read as many at a time.
pub const PADDING: usize = 16;

/// Stretches of rows whose labels are looked at to find the frequent ones, and how many entries those have together.
const SAMPLED_STRETCHES: u64 = 32;
const SAMPLED_ENTRIES: u64 = 1 << 21;

/// The stored marginals of a range of rows. In each row labels ascend.
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
    /// `length` entries from `start` on.
    ///
    /// # Panics
    /// When fewer than [`PADDING`] others follow.
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

    /// The number of its first entry among those of all rows.
    #[inline]
    pub fn first_entry(&self) -> usize {
        self.start
    }

    /// The column of the entry at `position`.
    #[inline]
    pub fn column(&self, position: u32) -> u32 {
        self.columns.get(self.start + position as usize)
    }

    /// The marginal of the entry at `position`.
    #[inline]
    pub fn value(&self, position: u32) -> f32 {
        self.values[self.start..self.start + self.length][position as usize]
    }

    /// Writes columns and marginals of the entries at `positions`.
    #[inline]
    pub fn gather(&self, positions: &[u32], columns: &mut [u32], values: &mut [f32]) {
        let range = self.start..self.start + self.length;
        let out = columns.iter_mut().zip(values);
        self.columns.visit_positions(range.clone(), positions, out, |column, position, (to, value)| {
            (*to, *value) = (column, self.values[range.clone()][position as usize]);
        });
    }

    /// Whether an entry has this column.
    #[inline]
    pub fn has_column(&self, column: u32) -> bool {
        let coding = self.columns.coding();
        let code = coding.code(column);
        // All of them, without a branch: the compiler makes vectors of that.
        let found = self.codes().iter().fold(false, |found, &other| found | (other == code));
        let same = |&position: &u32| self.column(position) == column;
        found && (!coding.has_shared_codes() || (0..self.length as u32).any(|position| same(&position)))
    }

    /// What tells columns of the same code apart, where columns share codes.
    #[inline]
    pub fn offsets(&self) -> Offsets<&'s [u8], &'s [u16]> {
        self.columns.offsets(self.start..self.start + self.length)
    }

    /// The same of the row and of the padding behind it.
    #[inline]
    pub fn padded_offsets(&self) -> Offsets<&'s [u8], &'s [u16]> {
        self.columns.offsets(self.start..self.start + self.length + PADDING)
    }

    /// Which columns share a code.
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

    /// Codes and values of the row and of all that is behind it, which is at least the padding.
    #[inline]
    pub fn padded(&self) -> (&'s [u16], &'s [f32]) {
        (&self.columns.codes()[self.start..], &self.values[self.start..])
    }
}

impl Marginals {
    /// `columns` and `values` are followed by padding; `starts` begins with 0. Columns are labels, until
    /// [`Marginals::renumber`], and ascend in each row.
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

    /// How often each label is stored in some of the rows, before [`Marginals::renumber`]. The first row is number `first`
    /// of `rows` with so many `entries`; which rows are looked at depends on those numbers only, so that what all ranks see
    /// together does not depend on how many they are.
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
            for row in start..end {
                let local = (row - first) as usize;
                (self.first_entry(local)..self.first_entry(local + 1))
                    .for_each(|entry| seen[self.columns.label(entry) as usize] += 1);
            }
            done = done.max(end);
        }
        seen
    }

    /// Puts columns in an order that is good for passes, once: there have to be [`ColumnOrder::MIN_LABELS`] labels.
    pub(crate) fn renumber(&mut self, known: &LabelFrequencies) {
        let Marginals { starts, columns, blocks, .. } = self;
        let order = ColumnOrder::new(known);
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

    /// The number of a row's first entry; with the number of rows, of all entries.
    #[inline]
    pub fn first_entry(&self, local: usize) -> usize {
        self.starts[local] as usize
    }

    /// Brings near what a pass looks at of some entries only, for all of these at once.
    pub fn prefetch_entries(&self, entries: Range<usize>) {
        self.columns.prefetch_entries(entries);
    }

    /// The largest number of entries of a row.
    pub fn longest_row(&self) -> usize {
        self.longest_row
    }

    pub fn blocks(&self) -> &RowBlocks {
        &self.blocks
    }

    /// The label of every column; none when it is the column itself.
    pub fn labels_by_column(&self) -> Option<&[u32]> {
        self.order.as_ref().map(ColumnOrder::labels_by_column)
    }

    /// The label of a column.
    #[inline]
    pub fn label(&self, column: u32) -> u32 {
        self.labels_by_column().map_or(column, |labels_by_column| labels_by_column[column as usize])
    }

    /// The column of a label.
    #[inline]
    pub fn column(&self, label: u32) -> u32 {
        self.columns_by_label().map_or(label, |columns| columns[label as usize])
    }

    /// The column of every label; none when it is the label itself.
    pub fn columns_by_label(&self) -> Option<&[u32]> {
        self.order.as_ref().map(ColumnOrder::columns_by_label)
    }

    #[inline]
    pub fn row(&self, local: usize) -> Row<'_> {
        let start = self.starts[local] as usize;
        let length = self.starts[local + 1] as usize - start;
        Row::new(&self.columns, &self.values, start, length)
    }

    /// Labels and marginals of a row, labels ascending.
    pub fn labels_and_marginals(&self, local: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let range = self.starts[local] as usize..self.starts[local + 1] as usize;
        range.map(move |at| (self.label(self.columns.get(at)), self.values[at]))
    }

    /// Which columns share a code.
    #[inline]
    pub fn coding(&self) -> ColumnCoding {
        self.columns.coding()
    }

    /// The marginals of all entries, and the padding.
    #[inline]
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

impl From<&Csr> for Marginals {
    fn from(matrix: &Csr) -> Marginals {
        let starts: Vec<u64> = matrix.indptr().raw_storage().iter().map(|&at| at as u64).collect();
        let (labels, indices) = (matrix.cols(), matrix.indices());
        let blocks = RowBlocks::new(&starts);
        let mut columns = EntryColumns::new(indices.len(), ColumnCoding::new(labels));
        let at = |row: usize| starts[row] as usize;
        let pieces = columns.pieces(&blocks, at);
        for block in 0..blocks.len() {
            let rows = blocks.rows(block);
            pieces.write_labels(block, &indices[at(rows.start)..at(rows.end)]);
        }
        drop(pieces);
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

    /// Rows of one entry each, of a label that says which row it is.
    fn rows(range: Range<u64>) -> Marginals {
        let labels: Vec<u32> = range.map(|row| row as u32).collect();
        let values = vec![0.5; labels.len()];
        Marginals::from(&Csr::new((labels.len(), 1000), (0..=labels.len()).collect(), labels, values))
    }

    #[test]
    fn what_is_sampled_does_not_depend_on_how_rows_are_shared_out() {
        // So many entries that few rows are looked at; so few that all are.
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
