//! Features and labels of the same rows in memory, for training estimators and for applying them.

use std::ops::Range;

use xxhash_rust::xxh3::Xxh3;

use super::open::{ColumnMeaning, open_with_labels, rows_of_this_rank};
use super::read::read_rows;
use crate::error::Result;
use crate::sparse::{Csr, RowsView};
use crate::store::{Location, MatrixFile, ValueKind};
use crate::world::World;

/// The rows that each rank holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowDistribution {
    /// A contiguous range per rank, balanced by stored features.
    Split,
    /// All rows on every rank.
    Replicated,
}

/// Rows with their features and, where given, labels.
pub struct Examples {
    /// Global row numbers.
    pub rows: Range<u64>,
    /// Number of rows on all ranks together.
    pub total_rows: u64,
    pub features: Csr,
    pub labels: Option<Csr>,
}

impl Examples {
    /// Returns a digest of the rows, which does not depend on how many ranks hold them. Collective.
    pub fn digest(&self, world: &World, held: RowDistribution) -> u64 {
        let matrices: Vec<RowsView<'_>> =
            std::iter::once(&self.features).chain(&self.labels).map(RowsView::from).collect();
        let row = |local: usize| {
            let mut hasher = Xxh3::new();
            hasher.update(&(self.rows.start + local as u64).to_le_bytes());
            for matrix in &matrices {
                let (columns, values) = matrix.row(local);
                hasher.update(&(columns.len() as u64).to_le_bytes());
                hasher.update(bytemuck::cast_slice(columns));
                hasher.update(bytemuck::cast_slice(values));
            }
            hasher.digest()
        };
        // Addition, so that the distribution of rows does not matter.
        let mine = (0..self.features.rows()).map(row).fold(0, u64::wrapping_add);
        match held {
            RowDistribution::Replicated => mine,
            RowDistribution::Split => world.gather_to_all(mine).into_iter().fold(0, u64::wrapping_add),
        }
    }
}

/// Examples about to be loaded, of which only shapes have been read.
pub struct ExamplesPlan<'w> {
    pub rows: u64,
    /// Number of features.
    pub features: u64,
    /// Number of labels, if labels were given.
    pub labels: Option<u64>,
    world: &'w World,
    matrices: (MatrixFile, Option<MatrixFile>),
}

/// Opens features and, where given, labels. Collective.
pub fn plan_examples<'w>(
    world: &'w World,
    features: &Location,
    labels: Option<&Location>,
) -> Result<ExamplesPlan<'w>> {
    let opened = open_with_labels(features, labels, ColumnMeaning::Features);
    let matrices = world.agree(opened)?;
    let (rows, features) = matrices.0.shape();
    let labels = matrices.1.as_ref().map(|labels| labels.shape().1);
    Ok(ExamplesPlan { rows, features, labels, world, matrices })
}

impl ExamplesPlan<'_> {
    /// Reads the rows. Collective.
    pub fn load(self, held: RowDistribution) -> Result<Examples> {
        let ExamplesPlan { rows: total_rows, world, matrices: (features, labels), .. } = self;
        let rows = match held {
            RowDistribution::Split => rows_of_this_rank(world, &features)?,
            RowDistribution::Replicated => 0..total_rows,
        };
        let read = |matrix, content| read_rows(world, matrix, rows.clone(), content);
        let labels = labels.as_ref().map(|labels| read(labels, ValueKind::Labels)).transpose()?;
        let features = read(&features, ValueKind::Finite)?;
        Ok(Examples { rows, total_rows, features, labels })
    }
}
