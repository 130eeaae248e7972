//! Sparse matrices in memory.

/// A matrix in compressed sparse row form: the rows of features, labels or imported marginals.
pub type Csr = sprs::CsMatI<f32, u32, usize>;

/// Returns the column indices of a row.
#[inline]
pub fn row_indices(matrix: &Csr, row: usize) -> &[u32] {
    let indptr = matrix.indptr();
    let starts = indptr.raw_storage();
    &matrix.indices()[starts[row]..starts[row + 1]]
}
