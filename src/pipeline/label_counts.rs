//! Label counts, from which priors and propensities are estimated.

use crate::classifier::count_positives;
use crate::error::Result;
use crate::load::{load_labels, total_positives};
use crate::shard::Shard;
use crate::store::Location;
use crate::world::World;

/// How often each label occurs in the rows of all ranks.
#[derive(Clone, Debug)]
pub struct LabelCounts {
    pub positives: Vec<u64>,
    pub rows: u64,
}

impl LabelCounts {
    /// Counts the labels of a file. Collective.
    pub fn load(world: &World, location: &Location) -> Result<LabelCounts> {
        let (_, rows, labels) = load_labels(world, location)?;
        Ok(LabelCounts { positives: total_positives(world, &labels, rows), rows })
    }

    /// Counts the true labels of rows in memory. Collective.
    pub fn of_shard(world: &World, shard: &Shard) -> LabelCounts {
        let mut positives = count_positives(shard);
        world.sum(&mut positives, shard.total_rows);
        LabelCounts { positives, rows: shard.total_rows }
    }
}
