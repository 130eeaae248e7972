//! What earlier runs of the same command have left: a model, a checkpoint, nothing.

use serde_json::json;

use super::Ready;
use crate::checkpoint::{Checkpoint, Fingerprint, look};
use crate::cli::common::Context;
use crate::error::{Result, usage};
use crate::store::{ModelFile, Overwrite};

/// What was found; rank 0 knows.
pub(super) struct Earlier {
    /// What the model that is there was made from, where that may be the same.
    made_from: Option<Fingerprint>,
}

impl Earlier {
    /// Looks before anything is loaded, and refuses what must not be replaced. Collective.
    pub fn look(context: &Context<'_>, ready: &Ready<'_>) -> Result<Earlier> {
        let mut earlier = Earlier { made_from: None };
        let asked = ready.facts();
        context.world.on_root(|| {
            let mut inputs = vec![ready.features.file.as_path(), ready.labels.file.as_path()];
            context.check_apart(&ready.out, &inputs)?;
            let resume = ready.typed.resume;
            let there = resume && ready.out.symlink_metadata().is_ok();
            let made = there.then(|| ModelFile::read_made_from(&ready.out).ok()).flatten().flatten();
            earlier.made_from = made.and_then(|text| Fingerprint::from_text(&text));
            match &earlier.made_from {
                Some(made) => {
                    refuse_other(context, ready, made, &asked)?;
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
            let begun = keep.check(&asked)?;
            if resume && !begun && earlier.made_from.is_none() {
                context.console.line(format_args!(
                    "no checkpoint {} to go on from: starting from the beginning",
                    keep.file.display()
                ));
            }
            Ok(())
        })?;
        Ok(earlier)
    }

    /// Whether the model that is there is what this run would make. Collective.
    pub fn is_complete(
        &mut self,
        context: &Context<'_>,
        ready: &Ready<'_>,
        now: &Fingerprint,
    ) -> Result<bool> {
        let Context { world, console, .. } = context;
        world.on_root(|| {
            let Some(made) = &self.made_from else { return Ok(()) };
            refuse_other(context, ready, made, now)?;
            self.made_from = self.made_from.take().filter(|made| made.difference(now).is_none());
            if let Some(keep) = ready.keep.as_ref().filter(|_| self.made_from.is_some())
                && look(&keep.file, now).is_ok_and(|there| there)
            {
                // A run that was killed after it had written its model has left the checkpoint too.
                let _ = Checkpoint::begin(&keep.file, now.clone()).remove();
            }
            Ok(())
        })?;
        let complete = world.gather_to_all(u64::from(self.made_from.is_some()))[0] == 1;
        if complete {
            console.line(format_args!(
                "{} is complete: it was made from the same data with the same options; nothing is left to do",
                ready.out.display()
            ));
            console.json(world, || json!({ "complete": true }))?;
        }
        Ok(complete)
    }
}

/// A model of something else is only replaced when that was asked for.
fn refuse_other(
    context: &Context<'_>,
    ready: &Ready<'_>,
    made: &Fingerprint,
    now: &Fingerprint,
) -> Result<()> {
    match made.difference(now) {
        Some(difference) if context.overwrite == Overwrite::Refuse => usage(format!(
            "{}: the file exists, and was {difference}; name another --out, or pass --force to replace it",
            ready.out.display()
        )),
        _ => Ok(()),
    }
}
