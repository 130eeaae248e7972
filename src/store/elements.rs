//! Slabs of numbers, read in the width they are stored in.
//!
//! HDF5 converts between number types by clamping without a word: -1 read as unsigned is 0. So
//! integers are read as what they are and checked here.

use std::ops::Range;

use hdf5::Dataset;
use hdf5::types::{FloatSize, IntSize, TypeDescriptor};
use ndarray::s;

use super::error::{Result, StoreError};
use super::hdf5_file::Hdf5File;

/// The kinds of numbers a dataset can hold for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Narrow,
    Signed,
    Unsigned,
    Single,
    Double,
    Boolean,
}

/// One dataset of numbers, with where it is for messages.
pub(super) struct Numbers<'f> {
    file: &'f Hdf5File,
    name: String,
    pub(super) dataset: Dataset,
    kind: Kind,
    /// The stored type, for messages.
    pub(super) stored: String,
}

impl<'f> Numbers<'f> {
    pub(super) fn open(file: &'f Hdf5File, name: String, dataset: Dataset) -> Result<Self> {
        let found = dataset.dtype().and_then(|dtype| dtype.to_descriptor());
        let stored = found.as_ref().map_or_else(ToString::to_string, ToString::to_string);
        let kind = match found {
            Ok(TypeDescriptor::Integer(IntSize::U4)) => Kind::Narrow,
            Ok(TypeDescriptor::Integer(_)) => Kind::Signed,
            Ok(TypeDescriptor::Unsigned(_)) => Kind::Unsigned,
            Ok(TypeDescriptor::Float(FloatSize::U4)) => Kind::Single,
            Ok(TypeDescriptor::Float(_)) => Kind::Double,
            Ok(TypeDescriptor::Boolean) => Kind::Boolean,
            _ => {
                let place = file.path.display().to_string();
                return Err(StoreError::BadType { place, part: name, found: stored, allowed: "numbers" });
            }
        };
        Ok(Numbers { file, name, dataset, kind, stored })
    }

    pub(super) fn is_integer(&self) -> bool {
        matches!(self.kind, Kind::Narrow | Kind::Signed | Kind::Unsigned)
    }

    fn slab<T: hdf5::H5Type>(&self, range: Range<u64>) -> Result<Vec<T>> {
        let range = range.start as usize..range.end as usize;
        if range.is_empty() {
            return Ok(Vec::new());
        }
        self.dataset
            .read_slice_1d::<T, _>(s![range])
            .map(|array| array.into_raw_vec_and_offset().0)
            .map_err(|error| self.file.explain(&self.name, "reading", &error))
    }

    /// Calls `each` with every integer of `range`, in order.
    pub(super) fn integers(&self, range: Range<u64>, mut each: impl FnMut(i128)) -> Result<()> {
        match self.kind {
            Kind::Narrow => self.slab::<i32>(range)?.into_iter().for_each(|v| each(v.into())),
            Kind::Signed => self.slab::<i64>(range)?.into_iter().for_each(|v| each(v.into())),
            _ => self.slab::<u64>(range)?.into_iter().for_each(|v| each(v.into())),
        }
        Ok(())
    }

    /// The integers of `range` as column numbers; none when they are stored in 64 bits or one of them is not
    /// below `limit`. Then [`Numbers::integers`] has them all, slower.
    pub(super) fn columns(&self, range: Range<u64>, limit: u64) -> Result<Option<Vec<u32>>> {
        if self.kind != Kind::Narrow {
            return Ok(None);
        }
        // As unsigned, a negative number is above every limit that fits i32.
        let columns: Vec<u32> = self.slab::<i32>(range)?.into_iter().map(|v| v as u32).collect();
        let largest = columns.iter().fold(0, |largest: u32, &column| largest.max(column));
        let limit = limit.min(i32::MAX as u64 + 1);
        Ok((u64::from(largest) < limit).then_some(columns))
    }

    /// The single integer at `at`.
    pub(super) fn integer(&self, at: u64) -> Result<i128> {
        let mut found = 0;
        self.integers(at..at + 1, |value| found = value)?;
        Ok(found)
    }

    /// Every value of `range`; what is stored in 32 bits or fewer is exact.
    pub(super) fn values(&self, range: Range<u64>) -> Result<Values> {
        Ok(match self.kind {
            Kind::Single => Values::Single(self.slab(range)?),
            Kind::Boolean => Values::Single(
                self.slab::<bool>(range)?.into_iter().map(|v| f32::from(u8::from(v))).collect(),
            ),
            _ => Values::Double(self.slab(range)?),
        })
    }

    /// Rows of a dense two-dimensional dataset, one after the other.
    pub(super) fn dense(&self, rows: Range<u64>) -> Result<Values> {
        fn block<T: hdf5::H5Type>(numbers: &Numbers<'_>, rows: Range<u64>) -> Result<Vec<T>> {
            let rows = rows.start as usize..rows.end as usize;
            numbers
                .dataset
                .read_slice_2d::<T, _>(s![rows, ..])
                .map(|array| array.into_raw_vec_and_offset().0)
                .map_err(|error| numbers.file.explain(&numbers.name, "reading", &error))
        }
        Ok(match self.kind {
            Kind::Single => Values::Single(block(self, rows)?),
            Kind::Boolean => Values::Single(
                block::<bool>(self, rows)?.into_iter().map(|v| f32::from(u8::from(v))).collect(),
            ),
            _ => Values::Double(block(self, rows)?),
        })
    }
}

/// A slab of values in the width they were stored in.
pub(super) enum Values {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Values {
    pub(super) fn get(&self, at: usize) -> f64 {
        match self {
            Values::Single(values) => values[at].into(),
            Values::Double(values) => values[at],
        }
    }
}
