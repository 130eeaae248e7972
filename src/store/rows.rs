//! Reading a range of rows: slab by slab, checked entry by entry, sorted by column.

use std::ops::Range;

use super::elements::{Numbers, Values};
use super::error::{Result, StoreError};
use super::matrix::{MatrixFile, Parts};

/// A matrix in memory (DESIGN section 3).
pub type Csr = sprs::CsMatI<f32, u32, usize>;

/// What the values mean, and so which ones are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// In [0, 1]; with `clamp`, values outside are moved to the nearer end.
    Probabilities { clamp: bool },
    /// 0 or 1; zeros are dropped.
    Labels,
    /// Any finite number.
    Finite,
}

impl Content {
    /// Whether all values can be taken as they are. Without a branch an entry, so that it is fast; what is
    /// wrong is then looked for entry by entry.
    fn allows_all(self, values: &[f32]) -> bool {
        let all = |allowed: fn(f32) -> bool| values.iter().fold(true, |all, &value| all & allowed(value));
        match self {
            Content::Probabilities { .. } => all(|value| (0.0..=1.0).contains(&value)),
            Content::Labels => all(|value| value == 1.0),
            Content::Finite => all(f32::is_finite),
        }
    }
}

/// Entries read from the file at a time: large enough for the disk, small beside a shard.
const SLAB: u64 = 1 << 20;

/// Where each row of a range begins and the last one ends, checked.
pub struct RowStarts {
    range: Range<u64>,
    /// Empty for a dense matrix, where it needs no telling.
    starts: Vec<u64>,
}

impl MatrixFile<'_> {
    /// The structure of rows `range`. A step of its own, so that ranks can agree on it before any
    /// looks at entries: the error is then the same for any number of ranks.
    pub fn row_starts(&self, range: Range<u64>) -> Result<RowStarts> {
        let Parts::Csr { indptr, .. } = &self.parts else {
            return Ok(RowStarts { range, starts: Vec::new() });
        };
        let entries = i128::from(self.entries());
        let mut starts: Vec<u64> = Vec::with_capacity((range.end - range.start + 1) as usize);
        let mut bad = None;
        let mut previous = 0;
        indptr.integers(range.start..range.end + 1, |value| {
            if bad.is_none() && (value < previous || value > entries) {
                let row = (range.start + starts.len() as u64).saturating_sub(1);
                bad = Some((row, previous, value));
            }
            previous = value;
            starts.push(value.max(0) as u64);
        })?;
        match bad {
            None => Ok(RowStarts { range, starts }),
            Some((row, start, end)) => {
                Err(StoreError::IndptrNotMonotone { place: self.location.to_string(), row, start, end })
            }
        }
    }

    /// The rows of `starts`, validated. On an error the first bad row of the range is named.
    pub fn read(&self, starts: &RowStarts, content: Content) -> Result<Csr> {
        let mut builder = Builder::new(self, starts.range.clone(), content);
        match &self.parts {
            Parts::Csr { data, indices, .. } => {
                let starts = &starts.starts;
                builder.reserve(starts[starts.len() - 1] - starts[0]);
                builder.csr(data, indices, starts)?;
            }
            Parts::Dense(numbers) => builder.dense(numbers, starts.range.clone())?,
        }
        Ok(builder.finish())
    }
}

struct Builder<'m> {
    matrix: &'m MatrixFile<'m>,
    content: Content,
    first_row: u64,
    indptr: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl<'m> Builder<'m> {
    fn new(matrix: &'m MatrixFile<'m>, range: Range<u64>, content: Content) -> Self {
        let mut indptr = Vec::with_capacity((range.end - range.start) as usize + 1);
        indptr.push(0);
        let (columns, values) = (Vec::new(), Vec::new());
        Builder { matrix, content, first_row: range.start, indptr, columns, values }
    }

    fn reserve(&mut self, entries: u64) {
        self.columns.reserve_exact(entries as usize);
        self.values.reserve_exact(entries as usize);
    }

    fn csr(&mut self, data: &Numbers<'_>, indices: &Numbers<'_>, starts: &[u64]) -> Result<()> {
        let mut row = 0;
        while row + 1 < starts.len() {
            let begin = starts[row];
            // As many whole rows as fit a slab, at least one.
            let mut end = row + 1;
            while end + 1 < starts.len() && starts[end + 1] - begin <= SLAB {
                end += 1;
            }
            let slab = begin..starts[end];
            let values = data.values(slab.clone())?;
            let columns = indices.columns(slab.clone(), self.matrix.columns)?;
            match (columns, &values) {
                (Some(columns), Values::Single(values)) if self.content.allows_all(values) => {
                    self.append(&columns, values, &starts[row..=end])?;
                }
                _ => self.one_by_one(indices, slab, &values, &starts[row..=end])?,
            }
            row = end;
        }
        Ok(())
    }

    /// Rows that have nothing wrong with them but, perhaps, their order.
    fn append(&mut self, columns: &[u32], values: &[f32], starts: &[u64]) -> Result<()> {
        let before = self.columns.len();
        self.columns.extend_from_slice(columns);
        self.values.extend_from_slice(values);
        starts[1..].iter().try_for_each(|end| self.end_row(before + (end - starts[0]) as usize))
    }

    /// Rows of any kind, each entry looked at by itself.
    fn one_by_one(
        &mut self,
        indices: &Numbers<'_>,
        slab: Range<u64>,
        values: &Values,
        starts: &[u64],
    ) -> Result<()> {
        let mut columns = Vec::with_capacity((slab.end - slab.start) as usize);
        indices.integers(slab, |column| columns.push(column))?;
        for pair in starts.windows(2) {
            let row = (pair[0] - starts[0]) as usize..(pair[1] - starts[0]) as usize;
            for (at, &column) in row.clone().zip(&columns[row]) {
                self.push(column, values.get(at))?;
            }
            self.end_row(self.columns.len())?;
        }
        Ok(())
    }

    fn dense(&mut self, numbers: &Numbers<'_>, range: Range<u64>) -> Result<()> {
        let width = self.matrix.columns as usize;
        let step = (SLAB / self.matrix.columns).max(1);
        let mut row = range.start;
        while row < range.end {
            let end = (row + step).min(range.end);
            let block: Values = numbers.dense(row..end)?;
            for line in 0..(end - row) as usize {
                for column in 0..width {
                    let value = block.get(line * width + column);
                    if value != 0.0 {
                        self.push(column as i128, value)?;
                    }
                }
                self.end_row(self.columns.len())?;
            }
            row = end;
        }
        Ok(())
    }

    fn row(&self) -> u64 {
        self.first_row + self.indptr.len() as u64 - 1
    }

    fn push(&mut self, column: i128, value: f64) -> Result<()> {
        let place = || self.matrix.location.to_string();
        let row = self.row();
        if column < 0 || column >= i128::from(self.matrix.columns) {
            let columns = self.matrix.columns;
            return Err(StoreError::ColumnOutOfRange { place: place(), row, column, columns });
        }
        let column = column as u32;
        if !value.is_finite() || !(value as f32).is_finite() {
            return Err(StoreError::NotFinite { place: place(), row, column, value });
        }
        let value = match self.content {
            Content::Probabilities { clamp: true } => value.clamp(0.0, 1.0),
            Content::Probabilities { clamp: false } if !(0.0..=1.0).contains(&value) => {
                return Err(StoreError::NotProbability { place: place(), row, column, value });
            }
            Content::Labels if value == 0.0 => return Ok(()),
            Content::Labels if value != 1.0 => {
                return Err(StoreError::NotLabel { place: place(), row, column, value });
            }
            _ => value,
        };
        self.columns.push(column);
        self.values.push(value as f32);
        Ok(())
    }

    /// The row ends before entry `end`.
    fn end_row(&mut self, end: usize) -> Result<()> {
        let row = self.indptr[self.indptr.len() - 1]..end;
        let columns = &mut self.columns[row.clone()];
        if !columns.is_sorted_by(|a, b| a < b) {
            sort_row(columns, &mut self.values[row.clone()]);
            if let Some(pair) = self.columns[row].windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(StoreError::DuplicateColumn {
                    place: self.matrix.location.to_string(),
                    row: self.row(),
                    column: pair[0],
                });
            }
        }
        self.indptr.push(end);
        Ok(())
    }

    fn finish(self) -> Csr {
        let shape = (self.indptr.len() - 1, self.matrix.columns as usize);
        // Checked above: monotone, sorted, in range. The library's own check would be another pass.
        Csr::new(shape, self.indptr, self.columns, self.values)
    }
}

fn sort_row(columns: &mut [u32], values: &mut [f32]) {
    let mut pairs: Vec<(u32, f32)> = columns.iter().copied().zip(values.iter().copied()).collect();
    pairs.sort_by_key(|pair| pair.0);
    for (at, (column, value)) in pairs.into_iter().enumerate() {
        (columns[at], values[at]) = (column, value);
    }
}
