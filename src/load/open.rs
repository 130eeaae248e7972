//! Opening a matrix together with the labels of the same rows, and dividing its rows among ranks.

use std::ops::Range;

use crate::error::Result;
use crate::store::{Location, MatrixFile, StoreError};
use crate::world::World;

/// The meaning of a matrix's columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnMeaning {
    Features,
    Labels,
}

/// Opens a matrix and, where given, the labels of its rows.
pub(super) fn open_with_labels(
    matrix: &Location,
    labels: Option<&Location>,
    columns: ColumnMeaning,
) -> Result<(MatrixFile, Option<MatrixFile>), StoreError> {
    let matrix = MatrixFile::open(matrix.clone())?;
    let Some(labels) = labels else { return Ok((matrix, None)) };
    let labels = MatrixFile::open(labels.clone())?;
    let (first, second) = (matrix.location().to_string(), labels.location().to_string());
    let (a, b) = (matrix.shape(), labels.shape());
    if columns == ColumnMeaning::Labels && a != b {
        return Err(StoreError::ShapesDiffer { first, a, second, b });
    }
    if a.0 != b.0 {
        return Err(StoreError::RowsDiffer { first, a: a.0, second, b: b.0 });
    }
    Ok((matrix, Some(labels)))
}

/// Returns this rank's range of rows, balanced by stored entries. Collective.
pub(crate) fn rows_of_this_rank(world: &World, matrix: &MatrixFile) -> Result<Range<u64>> {
    let mut bounds = Vec::new();
    world.on_root(|| {
        let ranges = matrix.balanced_row_ranges(world.size())?;
        bounds = ranges.iter().flat_map(|range| [range.start, range.end]).collect();
        Ok(())
    })?;
    world.broadcast(&mut bounds);
    Ok(bounds[2 * world.rank()]..bounds[2 * world.rank() + 1])
}
