//! Predictions made before, by us or by anybody, beside the labels they are judged by.

use super::shard::{read_rows, rows_of_this_rank, same_shape};
use crate::error::{Result, usage};
use crate::shard::{Marginals, Shard, Targets, TrueLabels};
use crate::sparse::row_indices;
use crate::store::{Hdf5File, Location, MatrixFile, ValueKind};
use crate::world::World;

/// Predictions beside labels.
pub struct PredictionShard {
    /// Its matrix holds scores of predicted labels instead of marginals.
    pub shard: Shard,
    pub k: usize,
}

/// Loads predictions (as the shard's matrix) and labels. Every row must have the same number of
/// labels, k.
pub fn load_predictions(world: &World, predictions: &Location, labels: &Location) -> Result<PredictionShard> {
    let file = world.agree(Hdf5File::open(&predictions.file).map_err(Into::into))?;
    let matrix = world.agree(MatrixFile::open(&file, predictions.clone()).map_err(Into::into))?;
    let labels_file = world.agree(Hdf5File::open(&labels.file).map_err(Into::into))?;
    let labels = world.agree(MatrixFile::open(&labels_file, labels.clone()).map_err(Into::into))?;
    world.agree(same_shape(&matrix, &labels).map_err(Into::into))?;
    let rows = rows_of_this_rank(world, &matrix)?;
    let scores = read_rows(world, &matrix, rows.clone(), ValueKind::Finite)?;
    let total_rows = matrix.shape().0;
    // The first row says what k is; then every row must have it. A rank may have no row at all.
    let first = if scores.rows() > 0 { row_indices(&scores, 0).len() as u64 + 1 } else { 0 };
    let first = world.gather_to_all(first).into_iter().find(|&first| first > 0);
    let k = first.map_or(0, |first| first as usize - 1);
    let odd = (0..scores.rows()).find(|&local| row_indices(&scores, local).len() != k);
    world.agree(match odd {
        Some(local) => usage(format!(
            "{predictions}: row {} has {} labels, but row 0 has {k}; every row must have the same number, k",
            rows.start + local as u64,
            row_indices(&scores, local).len()
        )),
        None if k == 0 => usage(format!("{predictions}: no labels are predicted")),
        None => Ok(()),
    })?;
    let labels = read_rows(world, &labels, rows.clone(), ValueKind::Labels)?;
    let marginals = Marginals::from(&scores);
    let targets = Targets::Labels(TrueLabels::new(labels, &marginals));
    let shard = Shard { rows, total_rows, marginals, targets };
    Ok(PredictionShard { shard, k })
}
