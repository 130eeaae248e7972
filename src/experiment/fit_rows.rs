//! The fitting rows in memory, for all fits.

use super::FitTarget;
use crate::error::Result;
use crate::format::format_count;
use crate::load::{ExtraMemory, LoadOptions, load_shard_with_plan};
use crate::report::Console;
use crate::shard::{FixedPoint, Shard, Targets};
use crate::world::World;

/// Loads rows and says what they are and take. Collective.
pub(super) fn load_rows(
    world: &World,
    console: &Console,
    files: &LoadOptions,
    extra: ExtraMemory,
) -> Result<Shard> {
    load_shard_with_plan(world, files, extra, |plan| {
        console.line(format_args!(
            "loading {}: {} instances x {} labels, {} stored; needs {}",
            files.marginals,
            format_count(plan.rows),
            format_count(plan.labels),
            format_count(plan.entries),
            plan.memory
        ));
        Ok(())
    })
}

/// What fits load, and what they need beside it.
pub(super) fn fit_load_request(files: &LoadOptions, targets: &[FitTarget]) -> (LoadOptions, ExtraMemory) {
    let labels = files.labels.clone().filter(|_| targets.contains(&FitTarget::Labels));
    // Two copies of the tensor: one is being written into a checkpoint while the next waits.
    (LoadOptions { labels, ..files.clone() }, ExtraMemory::for_fitting(targets == [FitTarget::Labels]))
}

/// What evaluating classifiers of so many rules needs beside the rows.
pub(super) fn evaluation_memory(most_rules: u64) -> ExtraMemory {
    ExtraMemory { bytes_per_count: 16, ..ExtraMemory::default() }.with_rules(most_rules)
}

/// Rows that are loaded once, and counted by labels or by expected labels as each fit wants.
pub(super) struct FitRows {
    shard: Shard,
    target: FitTarget,
    /// What the shard counts by when it counts by something else than now.
    other: Option<Targets>,
}

impl FitRows {
    pub fn load(
        world: &World,
        console: &Console,
        files: &LoadOptions,
        targets: &[FitTarget],
    ) -> Result<FitRows> {
        let labelled = targets.contains(&FitTarget::Labels);
        let (files, extra) = fit_load_request(files, targets);
        let shard = load_rows(world, console, &files, extra)?;
        let expected = Targets::Expected(FixedPoint::for_terms(shard.total_rows));
        Ok(match labelled {
            true => FitRows { shard, target: FitTarget::Labels, other: Some(expected) },
            false => FitRows { shard, target: FitTarget::Expected, other: None },
        })
    }

    /// The rows, counted by `target`.
    ///
    /// # Panics
    /// If labels are wanted that were not when the rows were loaded.
    pub fn counted_by(&mut self, target: FitTarget) -> &Shard {
        if self.target != target {
            let other = self.other.take().expect("labels were loaded");
            self.other = Some(std::mem::replace(&mut self.shard.targets, other));
            self.target = target;
        }
        &self.shard
    }
}
