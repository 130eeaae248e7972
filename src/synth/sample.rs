//! Some rows of a problem as a file that all ranks make together.

use std::ops::Range;
use std::path::Path;

use super::{Generator, SynthRows, SynthShape, generate};
use crate::error::Result;
use crate::store::{Overwrite, write_file};
use crate::world::World;

/// Rows of a problem. Two ranges of rows of one seed are two samples of the same problem.
#[derive(Clone, Copy, Debug)]
pub struct SynthSample {
    pub shape: SynthShape,
    pub seed: u64,
    pub first_row: u64,
}

impl SynthSample {
    fn rows(&self, world: &World) -> Range<u64> {
        let start = |rank: usize| {
            self.first_row + (u128::from(self.shape.instances) * rank as u128 / world.size() as u128) as u64
        };
        start(world.rank())..start(world.rank() + 1)
    }

    /// How many rows this rank makes.
    pub fn local_rows(&self, world: &World) -> u64 {
        self.rows(world).end - self.rows(world).start
    }

    /// Makes this rank's rows; `finished` hears of every block of them.
    pub fn generate(&self, world: &World, finished: impl Fn(u64) + Sync) -> SynthRows {
        generate(&Generator::new(self.shape, self.seed), self.rows(world), finished)
    }

    /// Writes what all ranks made, and says how many features, labels and marginals that are. Collective.
    pub fn write(
        &self,
        world: &World,
        made: &SynthRows,
        path: &Path,
        overwrite: Overwrite,
    ) -> Result<[u64; 3]> {
        let entries = [&made.features, &made.labels, &made.marginals].map(|rows| rows.indices.len() as u64);
        let entries = entries.map(|local| world.gather_to_all(local).iter().sum::<u64>());
        let SynthShape { instances, labels, features, .. } = self.shape;
        let matrices = [
            made.features.matrix("features", instances, features.into()),
            made.labels.matrix("labels", instances, labels.into()),
            made.marginals.matrix("marginals", instances, labels.into()),
        ];
        write_file(world, path, overwrite, &matrices, |file| {
            file.new_attr::<u64>().create("seed")?.write_scalar(&self.seed)?;
            file.new_attr::<u64>().create("first_row")?.write_scalar(&self.first_row)
        })?;
        Ok(entries)
    }
}
