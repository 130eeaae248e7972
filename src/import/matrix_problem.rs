//! Problems of a stored array, or of the matrix that it represents.

use super::text_problem::index_range;

/// A problem of a stored array or matrix. Rows and columns count from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MatrixProblem {
    #[error("not a zip archive ({reason}); write it with scipy.sparse.save_npz or numpy.savez")]
    NotZip { reason: String },
    #[error("member {member} cannot be unpacked ({reason}); write or fetch the file again")]
    Unpack { member: String, reason: String },
    #[error("{member} is not a NumPy array ({reason}); write it with numpy.save")]
    NotArray { member: String, reason: String },
    #[error("{member} holds {found} bytes of data, but its header promises {promised}")]
    Length { member: String, found: usize, promised: String },
    #[error("{member} has type {found}; supported are {supported}")]
    Type { member: String, found: String, supported: &'static str },
    #[error("member {missing} is not in the archive; it holds {found}")]
    MissingMember { missing: String, found: String },
    #[error("the archive holds {found}; give one array, or what scipy.sparse.save_npz writes")]
    SeveralArrays { found: String },
    #[error("the sparse format is '{found}'; supported are csr, csc and coo: save matrix.tocsr()")]
    SparseFormat { found: String },
    #[error("the shape is {found}, but a matrix has two dimensions and 1 to {} columns", u32::MAX)]
    Shape { found: String },
    #[error("{member} has {found} entries, but {promised} are needed")]
    Entries { member: &'static str, found: usize, promised: usize },
    #[error("indptr[{at}] is {found}, but it must start at 0, never fall and end within {entries}")]
    Pointer { at: usize, found: String, entries: usize },
    #[error("{member}[{at}] is {found}, but the shape allows {}", index_range(*size))]
    Index { member: &'static str, at: usize, found: String, size: usize },
    #[error("row {row}, column {column} is stored twice; call matrix.sum_duplicates() first")]
    Twice { row: usize, column: u32 },
    #[error("row {row}, column {column} is {value}, but a label is 0 or 1")]
    NotLabel { row: usize, column: u32, value: f64 },
    #[error(
        "row {row}, column {column} is {value}, but a probability must be in [0, 1]; \
         pass --clamp to accept it"
    )]
    NotProbability { row: usize, column: u32, value: f64 },
    #[error("row {row}, column {column} is {value}, but a value must be a finite 32-bit number")]
    NotFinite { row: usize, column: u32, value: f64 },
    #[error("{rows} rows do not fit in memory; check the shape")]
    Memory { rows: usize },
}
