//! Positive instances of each label, over all ranks: priors and propensities are estimated from them.

use super::open::rows_of_this_rank;
use super::read::read_rows;
use crate::classifier::count_positives;
use crate::error::Result;
use crate::shard::{Shard, Targets};
use crate::sparse::Csr;
use crate::store::{Location, MatrixFile, ValueKind};
use crate::world::World;

/// The positives of each label in the rows of all ranks.
#[derive(Clone, Debug)]
pub struct LabelCounts {
    pub positives: Vec<u64>,
    pub rows: u64,
}

impl LabelCounts {
    /// Counts the labels of a file. Collective.
    pub fn load(world: &World, location: &Location) -> Result<LabelCounts> {
        let matrix = world.agree(MatrixFile::open(location.clone()))?;
        let range = rows_of_this_rank(world, &matrix)?;
        let labels = read_rows(world, &matrix, range, ValueKind::Labels)?;
        let rows = matrix.shape().0;
        Ok(LabelCounts { positives: total_positives(world, &labels, rows), rows })
    }

    /// Returns the positives that a shard counts by, in its unit. Collective.
    pub fn of_shard(world: &World, shard: &Shard) -> LabelCounts {
        let rows = shard.total_rows;
        if let Targets::Labels(true_labels) = &shard.targets
            && let Some(positives) = true_labels.total_positives()
        {
            return LabelCounts { positives: positives.to_vec(), rows };
        }
        let mut positives = count_positives(shard);
        world.sum(&mut positives, rows.saturating_mul(shard.count_unit()));
        LabelCounts { positives, rows }
    }
}

/// Counts the positives of each label in the `total_rows` rows of all ranks. Collective.
pub fn total_positives(world: &World, labels: &Csr, total_rows: u64) -> Vec<u64> {
    let mut positives = vec![0; labels.cols()];
    labels.indices().iter().for_each(|&label| positives[label as usize] += 1);
    world.sum(&mut positives, total_rows);
    positives
}
