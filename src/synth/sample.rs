//! A range of rows of a synthetic problem, generated and written by all ranks.

use std::ops::Range;
use std::path::Path;

use super::{Generator, SynthRows, SynthShape, generate};
use crate::error::Result;
use crate::progress::Progress;
use crate::store::{LocalMatrix, Overwrite, write_file};
use crate::world::World;

/// A range of rows. Two ranges with the same seed are two samples of the same problem.
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

    /// Makes this rank's rows.
    pub fn generate(&self, world: &World, progress: &dyn Progress) -> SynthRows {
        generate(&Generator::new(self.shape, self.seed), self.rows(world), progress)
    }

    /// Writes the rows of all ranks. Returns the numbers of stored features, labels and marginals. Collective.
    pub fn write(
        &self,
        world: &World,
        made: &SynthRows,
        path: &Path,
        overwrite: Overwrite,
    ) -> Result<[u64; 3]> {
        let entries = [&made.features, &made.labels, &made.marginals].map(|rows| rows.columns.len() as u64);
        let entries = entries.map(|local| world.gather_to_all(local).iter().sum::<u64>());
        let SynthShape { instances, labels, features, .. } = self.shape;
        let matrices = [
            ("features", features, &made.features),
            ("labels", labels, &made.labels),
            ("marginals", labels, &made.marginals),
        ]
        .map(|(group, columns, rows)| LocalMatrix {
            group,
            rows: instances,
            columns: columns.into(),
            local: rows.view(),
        });
        write_file(world, path, overwrite, &matrices, |file| {
            file.new_attr::<u64>().create("seed")?.write_scalar(&self.seed)?;
            file.new_attr::<u64>().create("first_row")?.write_scalar(&self.first_row)
        })?;
        Ok(entries)
    }
}
