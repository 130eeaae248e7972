//! The fitting rows in memory, for all fits.

use super::Target;
use crate::error::Result;
use crate::measure::Population;
use crate::optimize::population;
use crate::report::{Console, count};
use crate::shard::{Extra, FixedPoint, LoadOptions, Shard, Targets, load_planned};
use crate::world::World;

/// Loads rows and says what they are and take. Collective.
pub(super) fn load(world: &World, console: &Console, files: &LoadOptions, extra: Extra) -> Result<Shard> {
    load_planned(world, files, extra, |plan| {
        console.line(format_args!(
            "loading {}: {} instances x {} labels, {} stored; needs {}",
            files.marginals,
            count(plan.rows),
            count(plan.labels),
            count(plan.entries),
            plan.memory
        ));
        Ok(())
    })
}

/// Rows that are loaded once, and counted by labels or by expected labels as each fit wants.
pub(super) struct Fitting {
    shard: Shard,
    target: Target,
    /// What the shard counts by when it counts by something else than now.
    other: Option<Targets>,
}

impl Fitting {
    pub fn load(
        world: &World,
        console: &Console,
        files: &LoadOptions,
        targets: &[Target],
    ) -> Result<Fitting> {
        let labelled = targets.contains(&Target::Labels);
        let labels = files.labels.clone().filter(|_| labelled);
        let files = LoadOptions { labels, ..files.clone() };
        let shard = load(world, console, &files, Extra::counting(targets == [Target::Labels]))?;
        let expected = Targets::Expected(FixedPoint::for_terms(shard.total_rows));
        Ok(match labelled {
            true => Fitting { shard, target: Target::Labels, other: Some(expected) },
            false => Fitting { shard, target: Target::Expected, other: None },
        })
    }

    /// The rows, counted by `target`, and what that fixes. Collective.
    ///
    /// # Panics
    /// If labels are wanted that were not when the rows were loaded.
    pub fn by(&mut self, world: &World, target: Target) -> (&Shard, Population) {
        if self.target != target {
            let other = self.other.take().expect("labels were loaded");
            self.other = Some(std::mem::replace(&mut self.shard.targets, other));
            self.target = target;
        }
        (&self.shard, population(world, &self.shard))
    }
}
