//! Reading and checking a block of rows of a matrix. Several threads can do so simultaneously.

use std::ops::Range;

use pulp::Arch;

use super::error::{Result, StoreError};
use super::matrix_file::{MatrixDatasets, MatrixFile};
use super::number_dataset::{NumberDataset, Values};
use crate::simd::with_simd;
use crate::sparse::sort_row;

/// The meaning of values, which decides what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Values in [0, 1]; with `clamp`, others are moved to the nearer end.
    Probabilities { clamp: bool },
    /// Values of 0 or 1; zeros are dropped.
    Labels,
    /// Finite numbers.
    Finite,
}

impl ValueKind {
    /// Whether all values can be used as stored. Fast, as it has no branch per entry; if it fails, a slower search finds
    /// the wrong entry.
    fn allows_all(self, values: &[f32]) -> bool {
        match self {
            ValueKind::Probabilities { .. } => all_allowed(values, |value| (0.0..=1.0).contains(&value)),
            ValueKind::Labels => all_allowed(values, |value| value == 1.0),
            ValueKind::Finite => all_allowed(values, |value| value.abs() < f32::INFINITY),
        }
    }
}

#[inline]
fn all_allowed(values: &[f32], allowed: impl Fn(f32) -> bool) -> bool {
    with_simd(
        Arch::new(),
        #[inline(always)]
        || {
            // Counting without an early exit lets the compiler vectorise.
            values.iter().map(|&value| u32::from(!allowed(value))).fold(0, |some, one| some | one) == 0
        },
    )
}

/// The start of each row of a range, and the end of the last one; checked.
pub struct RowStarts {
    pub(super) rows: Range<u64>,
    /// Stored entries before the first row.
    before: u64,
    starts: Vec<u64>,
}

impl RowStarts {
    /// Returns the row starts, from 0 on, and the end of the last row.
    pub fn starts(&self) -> &[u64] {
        &self.starts
    }

    pub fn entries(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    pub fn into_starts(self) -> Vec<u64> {
        self.starts
    }
}

/// A reusable buffer of rows; the columns of each row ascend.
#[derive(Default)]
pub struct Slab {
    pub columns: Vec<u32>,
    pub values: Vec<f32>,
    /// The end of each row.
    pub ends: Vec<usize>,
}

/// Cells of a dense matrix read at a time.
const CELLS_PER_READ: u64 = 1 << 20;

impl MatrixFile {
    /// Reads the structure of `rows`. Ranks agree on it before any of them reads entries, so that the error reported does
    /// not depend on their number.
    pub fn row_starts(&self, rows: Range<u64>) -> Result<RowStarts> {
        let mut starts: Vec<u64> = Vec::with_capacity((rows.end - rows.start + 1) as usize);
        let indptr = match &self.parts {
            MatrixDatasets::Csr { indptr, .. } => indptr,
            MatrixDatasets::Dense(numbers) => {
                starts.push(0);
                let mut total = 0;
                self.each_dense_row(numbers, rows.clone(), |cells| {
                    total += cells.filter(|&(_, value)| value != 0.0).count() as u64;
                    starts.push(total);
                    Ok(())
                })?;
                return Ok(RowStarts { rows, before: 0, starts });
            }
        };
        let entries = i128::from(self.entries());
        let mut bad = None;
        let mut previous = 0;
        indptr.for_each_integer(rows.start..rows.end + 1, |value| {
            if bad.is_none() && (value < previous || value > entries) {
                let row = (rows.start + starts.len() as u64).saturating_sub(1);
                bad = Some((row, previous, value));
            }
            previous = value;
            starts.push(value.max(0) as u64);
        })?;
        if let Some((row, start, end)) = bad {
            return Err(StoreError::IndptrNotMonotone { place: self.location.to_string(), row, start, end });
        }
        let before = starts[0];
        starts.iter_mut().for_each(|start| *start -= before);
        Ok(RowStarts { rows, before, starts })
    }

    /// Reads some of the rows of `starts`, numbered from 0, and checks them. An error names the first bad row.
    pub fn read_slab(
        &self,
        starts: &RowStarts,
        rows: Range<usize>,
        content: ValueKind,
        slab: &mut Slab,
    ) -> Result<()> {
        let first_row = starts.rows.start + rows.start as u64;
        slab.ends.clear();
        match &self.parts {
            MatrixDatasets::Csr { data, indices, .. } => {
                let (first, last) = (starts.starts[rows.start], starts.starts[rows.end]);
                let ends = &starts.starts[rows.start + 1..=rows.end];
                slab.ends.extend(ends.iter().map(|&end| (end - first) as usize));
                let entries = starts.before + first..starts.before + last;
                SlabChecker { matrix: self, content, first_row, slab }.read_csr(data, indices, entries)
            }
            MatrixDatasets::Dense(numbers) => {
                let mut checker = SlabChecker { matrix: self, content, first_row, slab };
                checker.clear();
                let last_row = first_row + rows.len() as u64;
                self.each_dense_row(numbers, first_row..last_row, |cells| {
                    for (column, value) in cells.filter(|&(_, value)| value != 0.0) {
                        checker.push(column as i128, value)?;
                    }
                    checker.end_row()
                })
            }
        }
    }

    /// Calls `each` with the cells of every row.
    fn each_dense_row(
        &self,
        numbers: &NumberDataset,
        rows: Range<u64>,
        mut each: impl FnMut(&mut dyn Iterator<Item = (usize, f64)>) -> Result<()>,
    ) -> Result<()> {
        let width = self.columns as usize;
        let mut row = rows.start;
        while row < rows.end {
            let end = (row + (CELLS_PER_READ / self.columns).max(1)).min(rows.end);
            let block: Values = numbers.read_dense_rows(row..end)?;
            for line in 0..(end - row) as usize {
                let mut cells = (0..width).map(|column| (column, block.get(line * width + column)));
                each(&mut cells)?;
            }
            row = end;
        }
        Ok(())
    }
}

/// Fills a slab with valid entries.
struct SlabChecker<'m> {
    matrix: &'m MatrixFile,
    content: ValueKind,
    first_row: u64,
    slab: &'m mut Slab,
}

impl SlabChecker<'_> {
    /// Reads entries of rows whose ends are in the slab.
    fn read_csr(&mut self, data: &NumberDataset, indices: &NumberDataset, entries: Range<u64>) -> Result<()> {
        let (begin, length) = (entries.start, (entries.end - entries.start) as usize);
        let Slab { columns, values, .. } = &mut *self.slab;
        // Old contents are overwritten: clearing them first would take as long as reading.
        columns.resize(length, 0);
        values.resize(length, 0.0);
        let plain = indices.read_columns_if_i32(begin, columns)? && data.read_values_if_f32(begin, values)?;
        if plain && self.content.allows_all(values) && self.columns_are_valid() {
            return Ok(());
        }
        self.check_each_entry(data, indices, entries)
    }

    /// Whether all columns are in range and ascend in each row. Has no branch per entry.
    fn columns_are_valid(&self) -> bool {
        let Slab { columns, ends, .. } = &*self.slab;
        let limit = self.matrix.columns.min(i32::MAX as u64 + 1);
        let falls = |column: u32, next: u32| u32::from(column as i32 >= next as i32);
        // The largest column, and the number of falls; those from one row to the next are allowed and subtracted.
        let (largest, all) = with_simd(
            Arch::new(),
            #[inline(always)]
            || {
                let next = columns.get(1..).unwrap_or(&[]);
                let mut seen = (columns.first().copied().unwrap_or(0), 0);
                for (&column, &next) in columns.iter().zip(next) {
                    seen = (seen.0.max(next), seen.1 + falls(column, next));
                }
                seen
            },
        );
        let inner = ends.iter().filter(|&&end| end > 0 && end < columns.len());
        // An empty row ends where the previous one does.
        let mut last = 0;
        let between: u32 = inner
            .map(|&end| {
                let again = end == last;
                last = end;
                if again { 0 } else { falls(columns[end - 1], columns[end]) }
            })
            .sum();
        u64::from(largest) < limit && all == between
    }

    /// Checks entry by entry, in any stored type.
    fn check_each_entry(
        &mut self,
        data: &NumberDataset,
        indices: &NumberDataset,
        entries: Range<u64>,
    ) -> Result<()> {
        let values = data.read_values(entries.clone())?;
        let mut columns = Vec::with_capacity((entries.end - entries.start) as usize);
        indices.for_each_integer(entries, |column| columns.push(column))?;
        let ends = std::mem::take(&mut self.slab.ends);
        self.clear();
        let mut at = 0;
        for end in ends {
            for (at, &column) in (at..).zip(&columns[at..end]) {
                self.push(column, values.get(at))?;
            }
            at = end;
            self.end_row()?;
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.slab.columns.clear();
        self.slab.values.clear();
    }

    fn row(&self) -> u64 {
        self.first_row + self.slab.ends.len() as u64
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
            ValueKind::Probabilities { clamp: true } => value.clamp(0.0, 1.0),
            ValueKind::Probabilities { clamp: false } if !(0.0..=1.0).contains(&value) => {
                return Err(StoreError::NotProbability { place: place(), row, column, value });
            }
            ValueKind::Labels if value == 0.0 => return Ok(()),
            ValueKind::Labels if value != 1.0 => {
                return Err(StoreError::NotLabel { place: place(), row, column, value });
            }
            _ => value,
        };
        self.slab.columns.push(column);
        self.slab.values.push(value as f32);
        Ok(())
    }

    fn end_row(&mut self) -> Result<()> {
        let row = self.row();
        let Slab { columns, values, ends } = &mut *self.slab;
        let start = ends.last().copied().unwrap_or(0);
        let (columns, values) = (&mut columns[start..], &mut values[start..]);
        sort_row(columns, values).map_err(|column| {
            let place = self.matrix.location.to_string();
            StoreError::DuplicateColumn { place, row, column }
        })?;
        ends.push(start + columns.len());
        Ok(())
    }
}
