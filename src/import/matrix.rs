//! A sparse matrix by rows, and how one is put together row by row.

/// A sparse matrix by rows.
///
/// Row `r` is `indices[indptr[r]..indptr[r + 1]]` with the `values` at the same places. Its
/// columns rise strictly and are below `columns`; values are finite.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns, stored or not.
    pub columns: usize,
    /// Where each row begins, and at the end the number of entries; `rows + 1` of them.
    pub indptr: Vec<usize>,
    /// Column of each entry.
    pub indices: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<f32>,
}

/// Rows in the making: entries in any order, then [`SparseBuilder::end_row`].
#[derive(Debug)]
pub(super) struct SparseBuilder {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl SparseBuilder {
    pub fn new() -> SparseBuilder {
        SparseBuilder { indptr: vec![0], indices: Vec::new(), values: Vec::new() }
    }

    pub fn push(&mut self, column: u32, value: f32) {
        self.indices.push(column);
        self.values.push(value);
    }

    /// Ends the row and sorts it. `Err` is a column that it holds twice.
    pub fn end_row(&mut self) -> Result<(), u32> {
        let start = self.indptr[self.indptr.len() - 1];
        let indices = &mut self.indices[start..];
        if !indices.is_sorted_by(|a, b| a < b) {
            let values = &mut self.values[start..];
            let mut entries: Vec<(u32, f32)> = indices.iter().copied().zip(values.iter().copied()).collect();
            entries.sort_unstable_by_key(|entry| entry.0);
            if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return Err(pair[0].0);
            }
            for (at, (column, value)) in entries.into_iter().enumerate() {
                indices[at] = column;
                values[at] = value;
            }
        }
        self.indptr.push(self.indices.len());
        Ok(())
    }

    /// Puts all rows of `other` below these.
    pub fn append(&mut self, other: SparseBuilder) {
        let base = self.indices.len();
        self.indptr.extend(other.indptr.into_iter().skip(1).map(|end| base + end));
        self.indices.extend(other.indices);
        self.values.extend(other.values);
    }

    pub fn smallest_column(&self) -> Option<u32> {
        self.indices.iter().copied().min()
    }

    pub fn largest_column(&self) -> Option<u32> {
        self.indices.iter().copied().max()
    }

    /// Moves all columns one to the left.
    ///
    /// # Panics
    /// If there is an entry in column 0.
    pub fn shift_left(&mut self) {
        assert_ne!(self.smallest_column(), Some(0), "column 0 has no left neighbour");
        self.indices.iter_mut().for_each(|column| *column -= 1);
    }

    pub fn finish(self, columns: usize) -> SparseMatrix {
        SparseMatrix {
            rows: self.indptr.len() - 1,
            columns,
            indptr: self.indptr,
            indices: self.indices,
            values: self.values,
        }
    }
}
