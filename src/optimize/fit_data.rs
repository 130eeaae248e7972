//! The data of a search, and the facts that identify them on any number of ranks.

use crate::checkpoint::Fingerprint;
use crate::load::LabelCounts;
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

/// Number of stored entries that a checksum covers: enough to notice that an estimator was trained again, few enough to cost
/// next to nothing.
const MAX_CHECKSUM_ENTRIES: u64 = 1 << 22;

/// Counts the rows of all ranks, and the positives of every label. Collective.
pub fn count_population(world: &World, shard: &Shard) -> Population {
    let LabelCounts { positives, rows } = LabelCounts::of_shard(world, shard);
    Population { rows, unit: shard.count_unit(), positives }
}

impl<'s> FitData<'s> {
    /// Counts and identifies the rows of all ranks. Collective.
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
        // Positives cover all rows, so a label that is added or removed anywhere changes the checksum.
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

/// Returns a checksum of marginals and labels, of a sample of rows if there are many. The sum over ranks does not depend on
/// how rows are spread over them.
fn content_checksum(shard: &Shard, entries: u64) -> u64 {
    // The global row number decides whether a row is in the sample.
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
        mix_bits(sum ^ u64::from(label.0) << 32 ^ u64::from(value.to_bits()))
    });
    let true_labels = shard.true_labels(local).iter();
    mix_bits(true_labels.fold(mix_bits(marginals), |sum, &label| mix_bits(sum ^ u64::from(label))))
}
