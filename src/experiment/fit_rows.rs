//! The fitting rows in memory, for all fits.

use super::FitTarget;
use crate::error::Result;
use crate::format::format_count;
use crate::load::{ExtraMemory, LoadOptions, LoadSummary, plan_load};
use crate::report::Console;
use crate::shard::{FixedPoint, Shard, Targets};
use crate::world::World;

/// Loads rows and prints their size. Collective.
pub(super) fn load_rows(
    world: &World,
    console: &Console,
    files: &LoadOptions,
    extra: ExtraMemory,
) -> Result<Shard> {
    let plan = plan_load(world, files, extra)?;
    let LoadSummary { rows, labels, entries, memory, .. } = plan.summary;
    console.line(format_args!(
        "loading {}: {} instances x {} labels, {} stored; needs {memory}",
        files.marginals,
        format_count(rows),
        format_count(labels),
        format_count(entries)
    ));
    plan.load()
}

/// Returns what fits load, and the memory they need in addition.
pub(super) fn fit_load_request(files: &LoadOptions, targets: &[FitTarget]) -> (LoadOptions, ExtraMemory) {
    let labels = files.labels.clone().filter(|_| targets.contains(&FitTarget::Labels));
    (LoadOptions { labels, ..files.clone() }, ExtraMemory::for_fitting(targets == [FitTarget::Labels]))
}

/// Rows that are loaded once and count true labels or expected labels, as each fit requires.
pub(super) struct FitRows {
    shard: Shard,
    target: FitTarget,
    /// The targets that are not in the shard.
    other: Option<Targets>,
}

impl FitRows {
    /// Loads the rows. Collective.
    pub fn load(
        world: &World,
        console: &Console,
        files: &LoadOptions,
        targets: &[FitTarget],
    ) -> Result<FitRows> {
        let (files, extra) = fit_load_request(files, targets);
        let shard = load_rows(world, console, &files, extra)?;
        let expected = Targets::Expected(FixedPoint::for_terms(shard.total_rows));
        Ok(match files.labels {
            Some(_) => FitRows { shard, target: FitTarget::Labels, other: Some(expected) },
            None => FitRows { shard, target: FitTarget::Expected, other: None },
        })
    }

    /// Returns the rows with `target`.
    ///
    /// # Panics
    /// If `target` is the true labels and they were not loaded.
    pub fn counted_by(&mut self, target: FitTarget) -> &Shard {
        if self.target != target {
            let other = self.other.take().expect("labels were loaded");
            self.other = Some(std::mem::replace(&mut self.shard.targets, other));
            self.target = target;
        }
        &self.shard
    }
}
