//! Loading predictions, by macrok or another program, with the labels that they are evaluated on.

use super::open::{ColumnMeaning, open_with_labels, rows_of_this_rank};
use super::read::read_rows;
use crate::error::{Result, usage};
use crate::shard::{Marginals, Shard, Targets, TrueLabels};
use crate::sparse::RowsView;
use crate::store::{Location, ValueKind};
use crate::world::World;

/// Loads predictions and labels. Every row must have the same number of predicted labels, k. Returns a shard with the scores
/// of predicted labels instead of marginals, and k. Collective.
pub fn load_predictions(world: &World, predictions: &Location, labels: &Location) -> Result<(Shard, usize)> {
    let opened = open_with_labels(predictions, Some(labels), ColumnMeaning::Labels);
    let (matrix, labels) = world.agree(opened)?;
    let rows = rows_of_this_rank(world, &matrix)?;
    let scores = read_rows(world, &matrix, rows.clone(), ValueKind::Finite)?;
    let total_rows = matrix.shape().0;
    // The first row decides k. Ranks may have no row.
    let lengths = RowsView::from(&scores).starts.windows(2).map(|pair| pair[1] - pair[0]);
    let first = lengths.clone().next().map_or(0, |length| length as u64 + 1);
    let first = world.gather_to_all(first).into_iter().find(|&first| first > 0);
    let k = first.map_or(0, |first| first as usize - 1);
    let odd = lengths.clone().zip(rows.clone()).find(|&(length, _)| length != k);
    world.agree(match odd {
        Some((length, row)) => usage(format!(
            "{predictions}: row {row} has {length} labels, but row 0 has {k}; every row must have the same number, k"
        )),
        None if k == 0 => usage(format!("{predictions}: no labels are predicted")),
        None => Ok(()),
    })?;
    let labels = labels.expect("labels were opened");
    let labels = read_rows(world, &labels, rows.clone(), ValueKind::Labels)?;
    let marginals = Marginals::from(&scores);
    let targets = Targets::Labels(TrueLabels::new(labels, &marginals));
    Ok((Shard { rows, total_rows, marginals, targets }, k))
}
