//! Features and labels of the same rows, in memory: what estimators learn from, and what they are asked about.

use std::ops::Range;

use xxhash_rust::xxh3::Xxh3;

use super::shard::{read_rows, rows_of_this_rank};
use crate::error::{Result, usage};
use crate::sparse::Csr;
use crate::store::{Hdf5File, Location, MatrixFile, ValueKind};
use crate::world::World;

/// Which rows a rank holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowDistribution {
    /// A contiguous share of its own, balanced by stored features.
    Split,
    /// All of them, on every rank.
    Replicated,
}

/// Rows with their features and, where given, labels.
pub struct Examples {
    /// Global row numbers.
    pub rows: Range<u64>,
    /// Rows of all ranks together.
    pub total_rows: u64,
    pub features: Csr,
    pub labels: Option<Csr>,
}

impl Examples {
    /// A number that is the same for the same rows, however many ranks hold them, and another for others. Collective.
    pub fn digest(&self, world: &World, held: RowDistribution) -> u64 {
        let matrices: Vec<&Csr> =
            [Some(&self.features), self.labels.as_ref()].into_iter().flatten().collect();
        let starts: Vec<Vec<usize>> = matrices.iter().map(|it| it.indptr().raw_storage().to_vec()).collect();
        let row = |local: usize| {
            let mut hasher = Xxh3::new();
            hasher.update(&(self.rows.start + local as u64).to_le_bytes());
            for (matrix, starts) in matrices.iter().zip(&starts) {
                let entries = starts[local]..starts[local + 1];
                hasher.update(&(entries.len() as u64).to_le_bytes());
                hasher.update(bytemuck::cast_slice(&matrix.indices()[entries.clone()]));
                hasher.update(bytemuck::cast_slice(&matrix.data()[entries]));
            }
            hasher.digest()
        };
        // A sum, so that it does not matter who holds which row.
        let mine = (0..self.features.rows()).map(row).fold(0, u64::wrapping_add);
        match held {
            RowDistribution::Replicated => mine,
            RowDistribution::Split => world.gather_to_all(mine).into_iter().fold(0, u64::wrapping_add),
        }
    }
}

/// Reads features, and labels where wanted. `check` is told the shapes (rows and columns of the features, columns of
/// the labels) before any entry is read; it may refuse. Collective.
pub fn load_examples(
    world: &World,
    features: &Location,
    labels: Option<&Location>,
    held: RowDistribution,
    check: impl FnOnce(u64, u64, Option<u64>) -> Result<()>,
) -> Result<Examples> {
    let file = world.agree(Hdf5File::open(&features.file).map_err(Into::into))?;
    let matrix = world.agree(MatrixFile::open(&file, features.clone()).map_err(Into::into))?;
    let labels_file = match labels {
        Some(location) => Some(world.agree(Hdf5File::open(&location.file).map_err(Into::into))?),
        None => None,
    };
    let label_matrix = match (&labels_file, labels) {
        (Some(file), Some(location)) => {
            Some(world.agree(MatrixFile::open(file, location.clone()).map_err(Into::into))?)
        }
        _ => None,
    };
    let (total_rows, columns) = matrix.shape();
    if let Some(labels) = &label_matrix {
        let rows = labels.shape().0;
        world.agree(if rows == total_rows {
            Ok(())
        } else {
            usage(format!(
                "{} has {total_rows} rows but {} has {rows}; both must have one row an instance",
                matrix.location(),
                labels.location()
            ))
        })?;
    }
    check(total_rows, columns, label_matrix.as_ref().map(|labels| labels.shape().1))?;
    let rows = match held {
        RowDistribution::Split => rows_of_this_rank(world, &matrix)?,
        RowDistribution::Replicated => 0..total_rows,
    };
    let labels = match &label_matrix {
        Some(labels) => Some(read_rows(world, labels, rows.clone(), ValueKind::Labels)?),
        None => None,
    };
    let features = read_rows(world, &matrix, rows.clone(), ValueKind::Finite)?;
    Ok(Examples { rows, total_rows, features, labels })
}
