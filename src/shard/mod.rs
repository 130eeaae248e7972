//! The rows of one rank in memory: marginals and, where given, true labels. Independent of MPI and HDF5.

mod column_coding;
mod column_order;
mod entry_columns;
mod fixed_point;
mod marginals;
mod row_blocks;
mod true_labels;

use std::ops::Range;

pub use column_coding::ColumnCoding;
pub(crate) use column_order::{ColumnOrder, LabelFrequencies};
pub use entry_columns::{EntryColumns, Offsets};
pub use fixed_point::FixedPoint;
pub use marginals::{Marginals, PADDING, Row};
pub use row_blocks::RowBlocks;
pub(crate) use true_labels::{BlockHitBits, row_columns};
pub use true_labels::{HitBits, TrueLabels};

/// What counts as a true positive.
pub enum Targets {
    /// The true labels, one row an instance.
    Labels(TrueLabels),
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
    pub const MAX_ROWS: u64 = u32::MAX as u64;

    pub fn labels(&self) -> usize {
        self.marginals.labels()
    }

    pub fn local_rows(&self) -> usize {
        self.marginals.rows()
    }

    /// The true labels of a row; none when the marginals stand in for them.
    pub fn true_labels(&self, local: usize) -> &[u32] {
        match &self.targets {
            Targets::Labels(true_labels) => true_labels.row(local),
            Targets::Expected(_) => &[],
        }
    }

    /// What one instance weighs in the counts: 1, or the fixed-point unit.
    pub fn count_unit(&self) -> u64 {
        match &self.targets {
            Targets::Labels(_) => 1,
            Targets::Expected(fixed) => fixed.one(),
        }
    }
}
