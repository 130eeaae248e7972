//! The fitting rows in memory, for all fits.

use super::Target;
use crate::error::Result;
use crate::format::count;
use crate::load::{Extra, LoadOptions, load_planned};
use crate::report::Console;
use crate::shard::{FixedPoint, Shard, Targets};
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

/// What fits load, and what they need beside it.
pub(super) fn for_fits(files: &LoadOptions, targets: &[Target]) -> (LoadOptions, Extra) {
    let labels = files.labels.clone().filter(|_| targets.contains(&Target::Labels));
    // Two copies of the tensor: one is being written into a checkpoint while the next waits.
    (LoadOptions { labels, ..files.clone() }, Extra::fitting(targets == [Target::Labels]))
}

/// What evaluating classifiers of so many rules needs beside the rows.
pub(super) fn for_evaluation(most_rules: u64) -> Extra {
    Extra { bytes_a_count: 16, ..Extra::default() }.with_rules(most_rules)
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
        let (files, extra) = for_fits(files, targets);
        let shard = load(world, console, &files, extra)?;
        let expected = Targets::Expected(FixedPoint::for_terms(shard.total_rows));
        Ok(match labelled {
            true => Fitting { shard, target: Target::Labels, other: Some(expected) },
            false => Fitting { shard, target: Target::Expected, other: None },
        })
    }

    /// The rows, counted by `target`.
    ///
    /// # Panics
    /// If labels are wanted that were not when the rows were loaded.
    pub fn by(&mut self, target: Target) -> &Shard {
        if self.target != target {
            let other = self.other.take().expect("labels were loaded");
            self.other = Some(std::mem::replace(&mut self.shard.targets, other));
            self.target = target;
        }
        &self.shard
    }
}
