//! The data a search is on, and what identifies them on any number of ranks.

use super::frank_wolfe::count_population;
use crate::checkpoint::Fingerprint;
use crate::measure::Population;
use crate::random::mix_bits;
use crate::shard::{Shard, Targets};
use crate::world::World;

/// The rows of all ranks together.
pub struct FitData<'s> {
    pub shard: &'s Shard,
    pub population: Population,
    fingerprint: Fingerprint,
}

/// Stored entries that are looked at to tell data apart: enough to see that an estimator was trained again, few enough
/// to cost next to nothing. Of less data all is looked at.
const MAX_CHECKSUM_ENTRIES: u64 = 1 << 22;

impl<'s> FitData<'s> {
    /// Collective.
    pub fn new(world: &World, shard: &'s Shard) -> FitData<'s> {
        let population = count_population(world, shard);
        let mut sums = [shard.marginals.entries() as u64];
        world.sum(&mut sums, u64::MAX);
        let entries = sums[0];
        let mut content = [content_checksum(shard, entries)];
        world.sum(&mut content, u64::MAX);
        let true_labels = match shard.targets {
            Targets::Labels(_) => "given",
            Targets::Expected(_) => "expected from the marginals",
        };
        // Positives are counted over all rows: a label that was added or taken away anywhere is seen.
        let positives = crc32fast::hash(bytemuck::cast_slice(&population.positives));
        let fingerprint = Fingerprint::default()
            .with("instances", shard.total_rows)
            .with("labels", shard.labels())
            .with("stored marginals", entries)
            .with("true labels", true_labels)
            .with("checksum of positives", format_args!("{positives:08x}"))
            .with("checksum of rows", format_args!("{:016x}", content[0]));
        FitData { shard, population, fingerprint }
    }

    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

/// A checksum of marginals and labels, of some rows where there are many. The sum of those of all ranks does not depend on
/// how rows are spread over them.
fn content_checksum(shard: &Shard, entries: u64) -> u64 {
    // Which rows is decided by their numbers in all data.
    let most =
        if entries <= MAX_CHECKSUM_ENTRIES { u64::MAX } else { u64::MAX / entries * MAX_CHECKSUM_ENTRIES };
    let blocks = shard.marginals.blocks();
    let parts = blocks.fold(
        || 0u64,
        |sum, block| {
            for local in blocks.rows(block) {
                let number = mix_bits(shard.rows.start + local as u64);
                if number <= most {
                    *sum = sum.wrapping_add(row_checksum(shard, local, number));
                }
            }
        },
    );
    parts.into_iter().fold(0, u64::wrapping_add)
}

fn row_checksum(shard: &Shard, local: usize, number: u64) -> u64 {
    let marginals = shard.marginals.labels_and_marginals(local);
    let marginals = marginals.fold(number, |sum, (label, value)| {
        mix_bits(sum ^ u64::from(label) << 32 ^ u64::from(value.to_bits()))
    });
    let true_labels = shard.true_labels(local).iter();
    mix_bits(true_labels.fold(mix_bits(marginals), |sum, &label| mix_bits(sum ^ u64::from(label))))
}
