//! This rank's rows: marginals and, where given, true labels, in memory.

mod fixed;
mod load;
mod predictions;

use std::ops::Range;

pub use fixed::FixedPoint;
pub use load::{LoadOptions, load_labels, load_shard, total_positives};
pub use predictions::{Predicted, load_predictions};

use crate::store::Csr;

/// What counts as a true positive.
pub enum Targets {
    /// The true labels, one row an instance.
    Labels(Csr),
    /// The marginals themselves stand in for labels: a predicted label counts with its probability.
    Expected(FixedPoint),
}

/// A contiguous range of the instances.
pub struct Shard {
    /// Global row numbers.
    pub rows: Range<u64>,
    /// Instances in all shards together.
    pub total_rows: u64,
    pub marginals: Csr,
    pub targets: Targets,
}

/// The entries of one row: columns ascending, values beside them.
#[derive(Clone, Copy)]
pub struct Row<'s> {
    pub columns: &'s [u32],
    pub values: &'s [f32],
}

impl Shard {
    pub fn labels(&self) -> usize {
        self.marginals.cols()
    }

    pub fn local_rows(&self) -> usize {
        self.marginals.rows()
    }

    pub fn row(&self, local: usize) -> Row<'_> {
        row(&self.marginals, local)
    }

    /// The true labels of a row; none when the marginals stand in for them.
    pub fn true_labels(&self, local: usize) -> &[u32] {
        match &self.targets {
            Targets::Labels(labels) => row(labels, local).columns,
            Targets::Expected(_) => &[],
        }
    }

    /// What one instance weighs in the counts: 1, or the fixed-point unit.
    pub fn unit(&self) -> u64 {
        match &self.targets {
            Targets::Labels(_) => 1,
            Targets::Expected(fixed) => fixed.one(),
        }
    }

    /// Bytes of the arrays one pass reads.
    pub fn bytes(&self) -> u64 {
        let matrix = |m: &Csr| (m.nnz() * 8 + (m.rows() + 1) * 8) as u64;
        matrix(&self.marginals)
            + match &self.targets {
                Targets::Labels(labels) => matrix(labels),
                Targets::Expected(_) => 0,
            }
    }
}

/// Row `local` of a matrix, as raw slices.
pub fn row(matrix: &Csr, local: usize) -> Row<'_> {
    let indptr = matrix.indptr();
    let indptr = indptr.raw_storage();
    let range = indptr[local]..indptr[local + 1];
    Row { columns: &matrix.indices()[range.clone()], values: &matrix.data()[range] }
}
