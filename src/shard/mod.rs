//! The rows of one rank in memory: marginals and, where given, true labels. Independent of MPI and HDF5.

mod blocks;
mod columns;
mod fixed;
mod grouping;
mod marginals;
mod order;
mod truth;

use std::ops::Range;

pub use blocks::Blocks;
pub use columns::{Columns, Rests};
pub use fixed::FixedPoint;
pub use grouping::Grouping;
pub use marginals::{Marginals, PADDING, Row};
pub(crate) use order::{Known, Order};
pub use truth::{Hits, Truth};
pub(crate) use truth::{Marks, columns as columns_of_row};

/// What counts as a true positive.
pub enum Targets {
    /// The true labels, one row an instance.
    Labels(Truth),
    /// The marginals themselves stand in for labels: a predicted label counts with its probability.
    Expected(FixedPoint),
}

/// A contiguous range of the instances.
pub struct Shard {
    /// Global row numbers.
    pub rows: Range<u64>,
    /// Instances in all shards together.
    pub total_rows: u64,
    pub marginals: Marginals,
    pub targets: Targets,
}

impl Shard {
    /// A pass counts rows in 32 bits.
    pub const MOST_ROWS: u64 = u32::MAX as u64;

    pub fn labels(&self) -> usize {
        self.marginals.labels()
    }

    pub fn local_rows(&self) -> usize {
        self.marginals.rows()
    }

    /// The true labels of a row; none when the marginals stand in for them.
    pub fn true_labels(&self, local: usize) -> &[u32] {
        match &self.targets {
            Targets::Labels(truth) => truth.row(local),
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
}
