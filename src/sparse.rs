//! Sparse matrices in memory.

/// A matrix in compressed sparse row form: the rows of features, labels or imported marginals.
pub type Csr = sprs::CsMatI<f32, u32, usize>;
