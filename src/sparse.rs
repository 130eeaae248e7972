//! Sparse matrices in memory: whole, borrowed, under construction, and indexed by column.

use std::ops::Range;

/// A matrix in compressed sparse row form; the columns of each row ascend.
pub type Csr = sprs::CsMatI<f32, u32, usize>;

/// Borrowed rows of a sparse matrix.
#[derive(Clone, Copy)]
pub struct RowsView<'m> {
    /// The start of each row, and the end of the last one, in `columns` and `values`.
    pub starts: &'m [usize],
    pub columns: &'m [u32],
    pub values: &'m [f32],
}

impl<'m> RowsView<'m> {
    /// # Panics
    /// If the last start is beyond the entries, or columns and values differ in length.
    pub fn new(starts: &'m [usize], columns: &'m [u32], values: &'m [f32]) -> RowsView<'m> {
        assert!(starts.last().is_some_and(|&end| end <= columns.len() && end <= values.len()));
        RowsView { starts, columns, values }
    }

    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn entries(&self) -> usize {
        self.starts[self.count()] - self.starts[0]
    }

    /// Returns the columns of a row, ascending, and their values.
    #[inline]
    pub fn row(&self, row: usize) -> (&'m [u32], &'m [f32]) {
        let entries = self.starts[row]..self.starts[row + 1];
        (&self.columns[entries.clone()], &self.values[entries])
    }

    pub fn slice(&self, rows: Range<usize>) -> RowsView<'m> {
        RowsView { starts: &self.starts[rows.start..=rows.end], ..*self }
    }
}

impl<'m> From<&'m Csr> for RowsView<'m> {
    #[inline]
    fn from(matrix: &'m Csr) -> RowsView<'m> {
        let starts = matrix.indptr().into_raw_storage();
        RowsView { starts, columns: matrix.indices(), values: matrix.data() }
    }
}

/// A sparse matrix that grows row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct CsrBuilder {
    /// The start of each row, and the end of the last one.
    pub starts: Vec<usize>,
    pub columns: Vec<u32>,
    pub values: Vec<f32>,
}

impl Default for CsrBuilder {
    fn default() -> CsrBuilder {
        CsrBuilder::with_capacity(0, 0)
    }
}

impl CsrBuilder {
    pub fn with_capacity(rows: usize, entries: usize) -> CsrBuilder {
        let mut starts = Vec::with_capacity(rows + 1);
        starts.push(0);
        CsrBuilder { starts, columns: Vec::with_capacity(entries), values: Vec::with_capacity(entries) }
    }

    pub fn view(&self) -> RowsView<'_> {
        RowsView { starts: &self.starts, columns: &self.columns, values: &self.values }
    }

    /// Adds an entry to the row under construction, which [`CsrBuilder::end_row`] completes.
    pub fn push(&mut self, column: u32, value: f32) {
        self.columns.push(column);
        self.values.push(value);
    }

    /// Completes a row whose entries may be in any order. Returns a column that it holds twice as an error.
    pub fn end_row(&mut self) -> Result<(), u32> {
        let start = self.starts[self.starts.len() - 1];
        sort_row(&mut self.columns[start..], &mut self.values[start..])?;
        self.starts.push(self.columns.len());
        Ok(())
    }

    /// Adds a row whose columns ascend.
    pub fn push_row(&mut self, columns: &[u32], values: &[f32]) {
        self.columns.extend_from_slice(columns);
        self.values.extend_from_slice(values);
        self.starts.push(self.columns.len());
    }

    /// Adds a row of entries with distinct columns, which it sorts.
    pub fn push_entries(&mut self, entries: &mut [(u32, f32)]) {
        entries.sort_unstable_by_key(|entry| entry.0);
        self.columns.extend(entries.iter().map(|entry| entry.0));
        self.values.extend(entries.iter().map(|entry| entry.1));
        self.starts.push(self.columns.len());
    }

    /// Adds the rows of `other` below these.
    pub fn append(&mut self, other: &CsrBuilder) {
        let before = self.columns.len();
        self.starts.extend(other.starts[1..].iter().map(|end| before + end));
        self.columns.extend_from_slice(&other.columns);
        self.values.extend_from_slice(&other.values);
    }

    /// Returns the largest stored column plus 1; 0 without entries.
    pub fn used_columns(&self) -> usize {
        self.columns.iter().max().map_or(0, |&column| column as usize + 1)
    }

    /// Returns the matrix, without copying it.
    ///
    /// # Panics
    /// If a row has a column of at least `columns`.
    pub fn finish(self, columns: usize) -> Csr {
        Csr::new((self.starts.len() - 1, columns), self.starts, self.columns, self.values)
    }
}

/// Adds empty columns to a matrix.
pub fn widen(matrix: Csr, columns: usize) -> Csr {
    let rows = matrix.rows();
    let (starts, indices, values) = matrix.into_raw_storage();
    Csr::new((rows, columns), starts, indices, values)
}

/// Sorts the entries of a row by column. Returns a column that occurs twice as an error.
pub fn sort_row(columns: &mut [u32], values: &mut [f32]) -> Result<(), u32> {
    if columns.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    let mut entries: Vec<(u32, f32)> = columns.iter().copied().zip(values.iter().copied()).collect();
    entries.sort_unstable_by_key(|entry| entry.0);
    if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(pair[0].0);
    }
    for (at, entry) in entries.into_iter().enumerate() {
        (columns[at], values[at]) = entry;
    }
    Ok(())
}

/// Sorts items by key, a number below `keys`; items of the same key keep their order. Returns the start of each key's items
/// (and the end of the last ones), and the items.
pub fn sort_by_key<T: Copy + Default>(
    keys: usize,
    items: impl Iterator<Item = (usize, T)> + Clone,
) -> (Vec<usize>, Vec<T>) {
    let mut starts = vec![0; keys + 1];
    items.clone().for_each(|(key, _)| starts[key + 1] += 1);
    for key in 0..keys {
        starts[key + 1] += starts[key];
    }
    let mut next = starts.clone();
    let mut sorted = vec![T::default(); starts[keys]];
    for (key, item) in items {
        sorted[next[key]] = item;
        next[key] += 1;
    }
    (starts, sorted)
}

/// Returns the start of each column's rows (and the end of the last ones), and the rows that store each column, in the order
/// of `rows`.
pub fn rows_by_column(
    matrix: RowsView<'_>,
    columns: usize,
    rows: impl Iterator<Item = u32> + Clone,
) -> (Vec<usize>, Vec<u32>) {
    let entries = |row: u32| matrix.row(row as usize).0.iter().map(move |&column| (column as usize, row));
    sort_by_key(columns, rows.flat_map(entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_rows_and_refuses_columns_that_occur_twice() {
        let mut rows = CsrBuilder::default();
        rows.push(4, 0.5);
        rows.push(1, 0.25);
        assert_eq!(rows.end_row(), Ok(()));
        rows.push_entries(&mut [(3, 3.0), (0, 1.0)]);
        rows.append(&rows.clone());
        let matrix = rows.clone().finish(5);
        assert_eq!(matrix.indices(), [1, 4, 0, 3, 1, 4, 0, 3]);
        assert_eq!(RowsView::from(&matrix).row(3), (&[0, 3][..], &[1.0, 3.0][..]));
        rows.push(2, 1.0);
        rows.push(2, 2.0);
        assert_eq!(rows.end_row(), Err(2));
    }

    #[test]
    fn lists_the_rows_of_each_column_in_the_given_order() {
        let mut rows = CsrBuilder::default();
        rows.push_row(&[0, 2], &[1.0, 1.0]);
        rows.push_row(&[], &[]);
        rows.push_row(&[0, 1], &[1.0, 1.0]);
        let (starts, by_column) = rows_by_column(rows.view(), 4, [2, 1, 0].into_iter());
        assert_eq!((starts, by_column), (vec![0, 2, 3, 4, 4], vec![2, 0, 2, 0]));
    }
}
