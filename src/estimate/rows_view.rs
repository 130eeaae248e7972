//! Some rows of a sparse matrix.

use std::ops::Range;

use crate::sparse::Csr;

/// A range of rows, borrowed.
#[derive(Clone, Copy)]
pub struct RowsView<'m> {
    /// Where each row begins and the last one ends, in `columns` and `values`.
    starts: &'m [usize],
    columns: &'m [u32],
    values: &'m [f32],
}

impl<'m> RowsView<'m> {
    /// # Panics
    /// If the last start is beyond the entries, or columns and values differ in length.
    pub fn new(starts: &'m [usize], columns: &'m [u32], values: &'m [f32]) -> RowsView<'m> {
        assert!(starts.last().is_some_and(|&end| end <= columns.len() && end <= values.len()));
        RowsView { starts, columns, values }
    }

    /// Calls `with` with all rows of a matrix.
    pub fn with_csr<T>(matrix: &Csr, with: impl FnOnce(RowsView<'_>) -> T) -> T {
        with(RowsView::new(matrix.indptr().raw_storage(), matrix.indices(), matrix.data()))
    }

    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn entries(&self) -> usize {
        self.starts[self.count()] - self.starts[0]
    }

    /// Columns, ascending, and values.
    #[inline]
    pub fn row(&self, row: usize) -> (&'m [u32], &'m [f32]) {
        let entries = self.starts[row]..self.starts[row + 1];
        (&self.columns[entries.clone()], &self.values[entries])
    }

    pub fn slice(&self, rows: Range<usize>) -> RowsView<'m> {
        RowsView { starts: &self.starts[rows.start..=rows.end], ..*self }
    }
}
