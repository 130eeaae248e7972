//! Errors of files, one variant per cause.

use std::path::PathBuf;

use super::file_kind::FileKind;
use crate::error::{ExitStatus, ModuleError};

/// An error of a file. `place` is always `FILE:GROUP`; rows and columns count from 0, as in Python.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{}: no such file", file.display())]
    NotFound { file: PathBuf },
    #[error("{}: the file is empty; expected an HDF5 file", file.display())]
    EmptyFile { file: PathBuf },
    #[error("{}: not an HDF5 file; `macrok import` turns text, ARFF and npz into one", file.display())]
    NotHdf5 { file: PathBuf },
    #[error("{}: the file is truncated or damaged ({detail}); copy or regenerate it", file.display())]
    Damaged { file: PathBuf, detail: String },
    #[error("{}: another program is writing the file; wait for it, or set HDF5_USE_FILE_LOCKING=FALSE if none is", file.display())]
    Locked { file: PathBuf },
    #[error("{}: the file system has no locks, but HDF5 requires one; set HDF5_USE_FILE_LOCKING=FALSE", file.display())]
    NoLocks { file: PathBuf },
    #[error(
        "{place}: compressed with a filter that this HDF5 library does not have (such as lzf or blosc); \
         store it with gzip, or set HDF5_PLUGIN_PATH to the filter's plugin"
    )]
    MissingFilter { place: String },
    #[error("{place}: {action} failed: {detail}")]
    Hdf5 { place: String, action: String, detail: String },
    #[error("{}: no group '{group}'; the file has {available}; name another one as FILE.h5:GROUP", file.display())]
    MissingGroup { file: PathBuf, group: String, available: String },
    #[error("{place}: '{part}' is missing, but a CSR matrix is data, indices, indptr and shape")]
    MissingPart { place: String, part: &'static str },
    #[error(
        "{place}: encoding-type is '{found}', but only csr_matrix can be read by rows; store the matrix as CSR"
    )]
    NotCsr { place: String, found: String },
    #[error("{place}: '{part}' holds {found}, but it must hold {allowed}")]
    BadType { place: String, part: String, found: String, allowed: &'static str },
    #[error("{place}: shape is {found}, but it must be two positive integers [rows, columns]")]
    BadShape { place: String, found: String },
    #[error("{place}: the matrix is empty ({rows} x {columns}); there is nothing to compute on")]
    Empty { place: String, rows: u64, columns: u64 },
    #[error("{place}: {columns} columns, but macrok numbers labels with 32 bits")]
    TooWide { place: String, columns: u64 },
    #[error("{place}: indptr has {found} values, but {rows} rows need {}", rows + 1)]
    IndptrLength { place: String, rows: u64, found: u64 },
    #[error("{place}: data has {data} values but indices has {indices}; they must have the same length")]
    LengthsDiffer { place: String, data: u64, indices: u64 },
    #[error("{place}: indptr {which} with {found}, but it must be {expected}")]
    IndptrEnd { place: String, which: &'static str, found: i128, expected: u64 },
    #[error("{place}: indptr is not monotone: row {row} starts at {start} and ends at {end}")]
    IndptrNotMonotone { place: String, row: u64, start: i128, end: i128 },
    #[error("{place}: row {row} has column {column}, but there are only columns 0 to {}", columns - 1)]
    ColumnOutOfRange { place: String, row: u64, column: i128, columns: u64 },
    #[error("{place}: row {row} has column {column} twice; add the entries up before storing them")]
    DuplicateColumn { place: String, row: u64, column: u32 },
    #[error(
        "{place}: row {row}, column {column} is {}, but a probability must be in [0, 1]; pass --clamp to accept it",
        ShortestNumber(*value)
    )]
    NotProbability { place: String, row: u64, column: u32, value: f64 },
    #[error("{place}: row {row}, column {column} is {}, which is not a finite number", ShortestNumber(*value))]
    NotFinite { place: String, row: u64, column: u32, value: f64 },
    #[error("{place}: row {row}, column {column} is {}, but a label is 0 or 1", ShortestNumber(*value))]
    NotLabel { place: String, row: u64, column: u32, value: f64 },
    #[error("{first} is {} x {} but {second} is {} x {}; both must have one row per instance and one column per label", a.0, a.1, b.0, b.1)]
    ShapesDiffer { first: String, a: (u64, u64), second: String, b: (u64, u64) },
    #[error("{first} has {a} rows but {second} has {b}; both must have one row per instance")]
    RowsDiffer { first: String, a: u64, second: String, b: u64 },
    #[error("{}: is {found}; expected {expected}", file.display())]
    WrongKind { file: PathBuf, found: FileKind, expected: String },
    #[error("{}: not a valid {kind} file: {detail}", file.display())]
    Malformed { file: PathBuf, kind: &'static str, detail: String },
    #[error("{}: the file exists; pass --force to replace it", file.display())]
    Exists { file: PathBuf },
    #[error("{}: no such folder to write into; create it first", folder.display())]
    NoFolder { folder: PathBuf },
    #[error("{}: is not a regular file and will not be replaced; name another one", file.display())]
    NotRegular { file: PathBuf },
    #[error("{}: is a folder; expected {expected}", file.display())]
    IsFolder { file: PathBuf, expected: &'static str },
    #[error("{}: cannot write into this folder: {source}", folder.display())]
    Unwritable { folder: PathBuf, source: std::io::Error },
    #[error("{}: cannot {action}: {source}", file.display())]
    Io { file: PathBuf, action: &'static str, source: std::io::Error },
}

impl ModuleError for StoreError {
    /// A failure of the system, such as a full disk, is not bad input.
    fn status(&self) -> ExitStatus {
        match self {
            StoreError::Io { .. } | StoreError::Hdf5 { .. } => ExitStatus::Failure,
            _ => ExitStatus::BadInput,
        }
    }
}

/// A number in as few digits as identify it: 1.3 stored as `f32` is shown as 1.3, not as 1.2999999523162842.
struct ShortestNumber(f64);

impl std::fmt::Display for ShortestNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let narrow = self.0 as f32;
        if f64::from(narrow) == self.0 { write!(f, "{narrow}") } else { write!(f, "{}", self.0) }
    }
}

pub type Result<T, E = StoreError> = std::result::Result<T, E>;
