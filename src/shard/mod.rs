//! The rows of one rank in memory, in the layout that a pass reads. Independent of MPI and HDF5.
//!
//! A [`Shard`] is a contiguous range of the rows: their [`Marginals`] and the [`Targets`] that predictions are counted
//! against, either [`TrueLabels`] or the marginals themselves. `load` fills it from files; passes of `classifier` read it.
//!
//! A pass is limited by memory bandwidth, so an *entry* (one stored marginal of one row) is small: the value and 16 bits
//! for the label, in two arrays over the entries of all rows ([`EntryColumns`] and the values). If labels are many,
//! loading renumbers them: the frequent ones become the first *columns* ([`ColumnOrder`]). A column is stored as a
//! *code* of 16 bits; with more columns than codes, neighbouring columns share one and a small offset tells them apart
//! ([`ColumnCoding`]). [`LabelId`], [`Column`], [`Code`], [`Position`] and [`EntryIndex`] keep these numbers distinct.
//!
//! Whether a stored label is a true label is one bit per entry ([`HitBits`]). Threads take rows in [`RowBlocks`], in
//! loading and in every pass the same ones first, so that each mostly reads memory close to it. Sums of probabilities
//! are integers ([`FixedPoint`]), so that no result depends on the number of ranks or threads.

mod column_coding;
mod column_order;
mod entry_columns;
mod fixed_point;
mod index;
mod marginals;
mod row_blocks;
mod true_labels;

use std::ops::Range;

pub use column_coding::ColumnCoding;
pub(crate) use column_order::{ColumnOrder, LabelFrequencies};
pub use entry_columns::{EntryColumns, Offsets};
pub use fixed_point::FixedPoint;
pub use index::{Code, Column, EntryIndex, LabelId, Position};
pub use marginals::{Marginals, PADDING, Row};
pub use row_blocks::RowBlocks;
pub(crate) use true_labels::BlockHitBits;
pub use true_labels::{HitBits, TrueLabels};

/// The reference that predictions are counted against.
pub enum Targets {
    Labels(TrueLabels),
    /// The marginals stand in for labels: a predicted label counts with its probability.
    Expected(FixedPoint),
}

/// A contiguous range of the rows.
pub struct Shard {
    /// Global row numbers.
    pub rows: Range<u64>,
    /// Number of rows in all shards together.
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

    /// Returns the true labels of a row, ascending; none when the marginals stand in for them.
    pub fn true_labels(&self, local: usize) -> &[u32] {
        match &self.targets {
            Targets::Labels(true_labels) => true_labels.row(local),
            Targets::Expected(_) => &[],
        }
    }

    /// Returns the weight of one row in the counts: 1, or the fixed-point unit.
    pub fn count_unit(&self) -> u64 {
        match &self.targets {
            Targets::Labels(_) => 1,
            Targets::Expected(fixed) => fixed.one(),
        }
    }
}
