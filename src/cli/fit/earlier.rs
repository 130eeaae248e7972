//! What earlier runs of the same command have left: a result, a checkpoint, nothing.

use std::path::Path;

use serde_json::json;

use super::Ready;
use crate::checkpoint::{Checkpoint, Fingerprint, look};
use crate::cli::common::Context;
use crate::error::{Result, usage};
use crate::store::{ClassifierFile, Overwrite};

/// What was found; rank 0 knows.
pub(super) struct Earlier {
    /// What the output that is there was made from, where that may be the same.
    made_from: Option<Fingerprint>,
    /// Whether there is a checkpoint to go on from.
    begun: bool,
}

impl Earlier {
    /// Looks before anything is loaded, and refuses what must not be replaced. Collective.
    pub fn look(context: &Context<'_>, ready: &Ready<'_>, asked: &Fingerprint) -> Result<Earlier> {
        let mut earlier = Earlier { made_from: None, begun: false };
        context.world.on_root(|| {
            let mut inputs = vec![ready.load.marginals.file.as_path(), ready.typed.how.init.as_ref()];
            inputs.extend(ready.load.labels.as_ref().map(|labels| labels.file.as_path()));
            context.check_apart(&ready.out, &inputs)?;
            let there = ready.typed.resume && ready.out.symlink_metadata().is_ok();
            earlier.made_from = if there { made_from(&ready.out) } else { None };
            match &earlier.made_from {
                Some(made) => {
                    refuse_other(context, &ready.out, made, asked)?;
                    Overwrite::Replace.check(&ready.out)?;
                }
                None => context.overwrite.check(&ready.out)?,
            }
            let Some(keep) = &ready.keep else { return Ok(()) };
            inputs.push(&ready.out);
            context.check_apart(&keep.file, &inputs)?;
            if std::path::absolute(&keep.file).ok() == std::path::absolute(&ready.out).ok() {
                return usage(format!("--checkpoint and --out are the same file, {}", keep.file.display()));
            }
            earlier.begun = keep.check(asked)?;
            if ready.typed.resume && !earlier.begun && earlier.made_from.is_none() {
                context.console.line(format_args!(
                    "no checkpoint {} to go on from: starting from the beginning",
                    keep.file.display()
                ));
            }
            Ok(())
        })?;
        Ok(earlier)
    }

    /// For a run that is stopped before its first iteration.
    pub fn standing(&self) -> &'static str {
        if self.begun { "before it went on from its checkpoint" } else { "with nothing to resume yet" }
    }

    /// Whether the output that is there is what this run would make. Collective.
    pub fn is_complete(
        &mut self,
        context: &Context<'_>,
        ready: &Ready<'_>,
        now: &Fingerprint,
    ) -> Result<bool> {
        let Context { world, console, .. } = context;
        world.on_root(|| {
            let Some(made) = &self.made_from else { return Ok(()) };
            refuse_other(context, &ready.out, made, now)?;
            self.made_from = self.made_from.take().filter(|made| made.difference(now).is_none());
            if let Some(keep) = ready.keep.as_ref().filter(|_| self.made_from.is_some()) {
                remove_needless(&keep.file, now);
            }
            Ok(())
        })?;
        let complete = world.gather_to_all(u64::from(self.made_from.is_some()))[0] == 1;
        if complete {
            console.line(format_args!(
                "{} is complete: it was made from the same data with the same options; nothing is left to do",
                ready.out.display()
            ));
            console
                .json(world, || json!({ "metric": ready.metric.text(), "k": ready.k, "complete": true }))?;
        }
        Ok(complete)
    }
}

/// A run that was killed after it had written its output has left the checkpoint too.
fn remove_needless(file: &Path, now: &Fingerprint) {
    if look(file, now).is_ok_and(|there| there) {
        let _ = Checkpoint::begin(file, now.clone()).remove();
    }
}

/// What a classifier file says it was made from.
fn made_from(path: &Path) -> Option<Fingerprint> {
    Fingerprint::from_text(&ClassifierFile::read_made_from(path).ok()??)
}

/// An output of something else is only replaced when that was asked for.
fn refuse_other(context: &Context<'_>, path: &Path, made: &Fingerprint, now: &Fingerprint) -> Result<()> {
    match made.difference(now) {
        Some(difference) if context.overwrite == Overwrite::Refuse => usage(format!(
            "{}: the file exists, and was {difference}; name another --out, or pass --force to replace it",
            path.display()
        )),
        _ => Ok(()),
    }
}
