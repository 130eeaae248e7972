//! Datasets of numbers, read in the width they are stored in.
//!
//! HDF5 silently clamps when it converts between number types: -1 read as unsigned is 0. Integers are therefore read in
//! their own type and checked here.

use std::any::TypeId;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use bytemuck::Pod;
use hdf5::types::{FloatSize, IntSize, TypeDescriptor};
use hdf5::{Dataset, Datatype, H5Type};
use ndarray::s;

use super::error::{Result, StoreError};
use super::hdf5_file::Hdf5File;

/// The types of stored numbers, as far as they are read differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberType {
    Int32,
    Signed,
    Unsigned,
    Single,
    Double,
    Boolean,
}

/// Numbers read at a time when they are not kept.
const NUMBERS_PER_READ: u64 = 1 << 16;

/// A dataset of numbers, and its name for messages.
pub(super) struct NumberDataset {
    file: Hdf5File,
    name: String,
    pub(super) dataset: Dataset,
    kind: NumberType,
    /// The stored type, for messages.
    pub(super) stored: String,
    raw: Option<RawNumbers>,
}

/// Contiguous numbers in the format of this machine: they can be read without the library, by several threads
/// simultaneously.
#[derive(Clone, Copy)]
struct RawNumbers {
    number: TypeId,
    offset: u64,
}

impl RawNumbers {
    fn of<T: H5Type>(file: &Hdf5File, dataset: &Dataset) -> Option<RawNumbers> {
        // A link may point into another file.
        let here = dataset.filename() == file.file.filename();
        let same = here && dataset.dtype().ok()? == Datatype::from_type::<T>().ok()?;
        // Chunked, compact and unwritten datasets have no offset.
        let offset = dataset.offset()?;
        same.then_some(RawNumbers { number: TypeId::of::<T>(), offset })
    }
}

impl NumberDataset {
    pub(super) fn open(file: &Hdf5File, name: String, dataset: Dataset) -> Result<Self> {
        let found = dataset.dtype().and_then(|dtype| dtype.to_descriptor());
        let stored = found.as_ref().map_or_else(ToString::to_string, ToString::to_string);
        let kind = match found {
            Ok(TypeDescriptor::Integer(IntSize::U4)) => NumberType::Int32,
            Ok(TypeDescriptor::Integer(_)) => NumberType::Signed,
            Ok(TypeDescriptor::Unsigned(_)) => NumberType::Unsigned,
            Ok(TypeDescriptor::Float(FloatSize::U4)) => NumberType::Single,
            Ok(TypeDescriptor::Float(_)) => NumberType::Double,
            Ok(TypeDescriptor::Boolean) => NumberType::Boolean,
            _ => {
                let place = file.path.display().to_string();
                return Err(StoreError::BadType { place, part: name, found: stored, allowed: "numbers" });
            }
        };
        let raw = match kind {
            NumberType::Int32 => RawNumbers::of::<i32>(file, &dataset),
            NumberType::Signed => RawNumbers::of::<i64>(file, &dataset),
            NumberType::Unsigned => RawNumbers::of::<u64>(file, &dataset),
            NumberType::Single => RawNumbers::of::<f32>(file, &dataset),
            NumberType::Double => RawNumbers::of::<f64>(file, &dataset),
            NumberType::Boolean => None,
        };
        Ok(NumberDataset { file: file.clone(), name, dataset, kind, stored, raw })
    }

    pub(super) fn is_integer(&self) -> bool {
        matches!(self.kind, NumberType::Int32 | NumberType::Signed | NumberType::Unsigned)
    }

    fn read_range<T: H5Type + Pod>(&self, range: Range<u64>) -> Result<Vec<T>> {
        let mut slab = vec![T::zeroed(); (range.end - range.start) as usize];
        self.read_into(range.start, &mut slab)?;
        Ok(slab)
    }

    /// Fills `slab` with the numbers from `start` on.
    fn read_into<T: H5Type + Pod>(&self, start: u64, slab: &mut [T]) -> Result<()> {
        if slab.is_empty() {
            return Ok(());
        }
        match self.raw {
            Some(RawNumbers { number, offset }) if number == TypeId::of::<T>() => {
                let offset = offset + start * size_of::<T>() as u64;
                self.file.bytes.read_exact_at(bytemuck::cast_slice_mut(slab), offset).map_err(|error| {
                    let file = self.file.place_of(&self.name).into();
                    match error.kind() {
                        std::io::ErrorKind::UnexpectedEof => {
                            StoreError::Damaged { file, detail: "the file ends too early".into() }
                        }
                        _ => StoreError::Io { file, action: "read it", source: error },
                    }
                })
            }
            _ => {
                slab.copy_from_slice(&self.read_with_library(start..start + slab.len() as u64)?);
                Ok(())
            }
        }
    }

    fn read_with_library<T: H5Type>(&self, range: Range<u64>) -> Result<Vec<T>> {
        let range = range.start as usize..range.end as usize;
        let read = self.dataset.read_slice_1d::<T, _>(s![range]);
        read.map(|array| array.into_raw_vec_and_offset().0).map_err(|error| self.read_error(&error))
    }

    fn read_error(&self, error: &hdf5::Error) -> StoreError {
        self.file.hdf5_error(&self.name, "reading", error)
    }

    /// Calls `each` with every integer of `range`, in order.
    pub(super) fn for_each_integer(&self, range: Range<u64>, mut each: impl FnMut(i128)) -> Result<()> {
        match self.kind {
            NumberType::Int32 => self.for_each_in_pieces::<i32>(range, |v| each(v.into())),
            NumberType::Signed => self.for_each_in_pieces::<i64>(range, |v| each(v.into())),
            _ => self.for_each_in_pieces::<u64>(range, |v| each(v.into())),
        }
    }

    /// Calls `each` with every number of `range`, in order, holding only a piece of them in memory.
    fn for_each_in_pieces<T: H5Type + Pod>(&self, range: Range<u64>, mut each: impl FnMut(T)) -> Result<()> {
        let mut piece = vec![T::zeroed(); NUMBERS_PER_READ.min(range.end - range.start) as usize];
        for start in range.clone().step_by(NUMBERS_PER_READ as usize) {
            let piece = &mut piece[..NUMBERS_PER_READ.min(range.end - start) as usize];
            self.read_into(start, piece)?;
            piece.iter().for_each(|&number| each(number));
        }
        Ok(())
    }

    /// Fills `columns` with the column numbers from `start` on if they are stored as `i32`, and returns whether they are.
    /// The bits are kept: a negative number becomes one above `i32::MAX`.
    pub(super) fn read_columns_if_i32(&self, start: u64, columns: &mut [u32]) -> Result<bool> {
        let narrow = self.kind == NumberType::Int32;
        if narrow {
            self.read_into::<i32>(start, bytemuck::cast_slice_mut(columns))?;
        }
        Ok(narrow)
    }

    /// Fills `values` from `start` on if they are stored as `f32`, and returns whether they are.
    pub(super) fn read_values_if_f32(&self, start: u64, values: &mut [f32]) -> Result<bool> {
        let single = self.kind == NumberType::Single;
        if single {
            self.read_into(start, values)?;
        }
        Ok(single)
    }

    pub(super) fn read_integer(&self, at: u64) -> Result<i128> {
        let mut found = 0;
        self.for_each_integer(at..at + 1, |value| found = value)?;
        Ok(found)
    }

    /// Returns the values of `range`; those stored in 32 bits or fewer are exact.
    pub(super) fn read_values(&self, range: Range<u64>) -> Result<Values> {
        Ok(match self.kind {
            NumberType::Single => Values::Single(self.read_range(range)?),
            NumberType::Boolean => Values::from_flags(&self.read_with_library(range)?),
            _ => Values::Double(self.read_range(range)?),
        })
    }

    /// Returns rows of a dense two-dimensional dataset, concatenated.
    pub(super) fn read_dense_rows(&self, rows: Range<u64>) -> Result<Values> {
        fn block<T: H5Type>(numbers: &NumberDataset, rows: Range<u64>) -> Result<Vec<T>> {
            let rows = rows.start as usize..rows.end as usize;
            numbers
                .dataset
                .read_slice_2d::<T, _>(s![rows, ..])
                .map(|array| array.into_raw_vec_and_offset().0)
                .map_err(|error| numbers.read_error(&error))
        }
        Ok(match self.kind {
            NumberType::Single => Values::Single(block(self, rows)?),
            NumberType::Boolean => Values::from_flags(&block(self, rows)?),
            _ => Values::Double(block(self, rows)?),
        })
    }
}

/// Values in the width they are stored in.
pub(super) enum Values {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Values {
    fn from_flags(flags: &[bool]) -> Values {
        Values::Single(flags.iter().map(|&flag| f32::from(u8::from(flag))).collect())
    }

    pub(super) fn get(&self, at: usize) -> f64 {
        match self {
            Values::Single(values) => values[at].into(),
            Values::Double(values) => values[at],
        }
    }
}
