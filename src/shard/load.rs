//! Loading this rank's rows. Every step that can fail is agreed on by all ranks before the next.

use super::pack::pack;
use super::{FixedPoint, Shard, Targets};
use crate::error::Result;
use crate::store::{Content, Csr, Hdf5File, Location, MatrixFile, StoreError};
use crate::world::World;
use std::ops::Range;

pub struct LoadOptions {
    pub marginals: Location,
    /// Without labels the marginals stand in for them.
    pub labels: Option<Location>,
    /// Accept marginals outside [0, 1] and move them to the nearer end.
    pub clamp: bool,
}

/// Reads this rank's share of the rows, balanced by stored marginals.
pub fn load_shard(world: &World, options: &LoadOptions) -> Result<Shard> {
    let file = world.agree(Hdf5File::open(&options.marginals.file).map_err(Into::into))?;
    let marginals = world.agree(MatrixFile::open(&file, options.marginals.clone()).map_err(Into::into))?;
    let labels_file = match &options.labels {
        Some(location) => Some(world.agree(Hdf5File::open(&location.file).map_err(Into::into))?),
        None => None,
    };
    let labels = match (&labels_file, &options.labels) {
        (Some(file), Some(location)) => {
            Some(world.agree(MatrixFile::open(file, location.clone()).map_err(Into::into))?)
        }
        _ => None,
    };
    if let Some(labels) = &labels {
        world.agree(same_shape(&marginals, labels).map_err(Into::into))?;
    }
    let rows = share(world, &marginals)?;
    let content = Content::Probabilities { clamp: options.clamp };
    let starts = world.agree(marginals.row_starts(rows.clone()).map_err(Into::into))?;
    let loaded = world.agree(pack(&marginals, starts, content).map_err(Into::into))?;
    let total_rows = marginals.shape().0;
    let targets = match labels {
        Some(labels) => Targets::Labels(read_rows(world, &labels, rows.clone(), Content::Labels)?),
        None => Targets::Expected(FixedPoint::for_terms(total_rows)),
    };
    Ok(Shard { rows, total_rows, marginals: loaded, targets })
}

/// Reads this rank's share of a label matrix, for what needs no marginals.
pub fn load_labels(world: &World, location: &Location) -> Result<(Range<u64>, u64, Csr)> {
    let file = world.agree(Hdf5File::open(&location.file).map_err(Into::into))?;
    let matrix = world.agree(MatrixFile::open(&file, location.clone()).map_err(Into::into))?;
    let rows = share(world, &matrix)?;
    let labels = read_rows(world, &matrix, rows.clone(), Content::Labels)?;
    Ok((rows, matrix.shape().0, labels))
}

/// Positive instances of each label over all ranks.
pub fn total_positives(world: &World, labels: &Csr, total_rows: u64) -> Vec<u64> {
    let mut positives = vec![0; labels.cols()];
    for &label in labels.indices() {
        positives[label as usize] += 1;
    }
    world.sum(&mut positives, total_rows);
    positives
}

/// This rank's rows of `matrix`.
pub(super) fn share(world: &World, matrix: &MatrixFile<'_>) -> Result<Range<u64>> {
    let mut bounds = Vec::new();
    world.on_root(|| {
        let ranges = matrix.balanced(world.size())?;
        bounds = ranges.iter().flat_map(|range| [range.start, range.end]).collect();
        Ok(())
    })?;
    world.broadcast(&mut bounds);
    Ok(bounds[2 * world.rank()]..bounds[2 * world.rank() + 1])
}

/// Reads a range: first its structure, then its entries, so that the error found does not depend
/// on the number of ranks.
pub(super) fn read_rows(
    world: &World,
    matrix: &MatrixFile<'_>,
    rows: Range<u64>,
    content: Content,
) -> Result<Csr> {
    let starts = world.agree(matrix.row_starts(rows).map_err(Into::into))?;
    world.agree(matrix.read(&starts, content).map_err(Into::into))
}

pub(super) fn same_shape(first: &MatrixFile<'_>, second: &MatrixFile<'_>) -> Result<(), StoreError> {
    if first.shape() == second.shape() {
        return Ok(());
    }
    Err(StoreError::ShapesDiffer {
        first: first.location().to_string(),
        a: first.shape(),
        second: second.location().to_string(),
        b: second.shape(),
    })
}
