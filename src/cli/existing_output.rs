//! Output and checkpoint left by an earlier run of the same command.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::common::Context;
use crate::checkpoint::{CheckpointPolicy, Fingerprint};
use crate::error::{Error, Result, usage};
use crate::store::{Overwrite, read_fingerprint};

/// The files that a command reads and writes.
pub(super) struct RunFiles<'a> {
    pub inputs: Vec<&'a Path>,
    pub out: &'a Path,
    /// `None` without checkpoints.
    pub checkpoint_policy: Option<&'a CheckpointPolicy>,
    pub resume: bool,
}

/// The state of the output files. Only rank 0 knows it.
pub(super) struct ExistingOutput<'a> {
    files: RunFiles<'a>,
    /// The fingerprint of the existing output, if it may be the same as that of this run.
    existing_fingerprint: Option<Fingerprint>,
    /// Whether there is a checkpoint to resume from.
    has_checkpoint: bool,
}

impl<'a> ExistingOutput<'a> {
    /// Examines the files before anything is loaded, and refuses those that must not be replaced. `requested` holds what
    /// is known of the fingerprint by then. Collective.
    pub fn inspect(
        context: &Context<'_>,
        files: RunFiles<'a>,
        requested: &Fingerprint,
    ) -> Result<ExistingOutput<'a>> {
        let mut existing = ExistingOutput { files, existing_fingerprint: None, has_checkpoint: false };
        context.world.on_root(|| existing.inspect_on_root(context, requested))?;
        Ok(existing)
    }

    fn inspect_on_root(&mut self, context: &Context<'_>, requested: &Fingerprint) -> Result<()> {
        let RunFiles { inputs, out, checkpoint_policy, resume } = &self.files;
        context.check_distinct_paths(out, inputs)?;
        let there = *resume && out.symlink_metadata().is_ok();
        let made = there.then(|| read_fingerprint(out)).flatten();
        self.existing_fingerprint = made.and_then(|text| Fingerprint::from_text(&text));
        match &self.existing_fingerprint {
            Some(made) => {
                refuse_different_output(context, out, made, requested)?;
                Overwrite::Replace.check(out)?;
            }
            None => context.overwrite.check(out)?,
        }
        let Some(policy) = checkpoint_policy else { return Ok(()) };
        let shown = policy.file.display();
        context.check_distinct_paths(&policy.file, &[inputs, &[*out][..]].concat())?;
        if std::path::absolute(&policy.file).ok() == std::path::absolute(out).ok() {
            return usage(format!("--checkpoint and --out are the same file, {shown}"));
        }
        self.has_checkpoint = policy.check(requested)?;
        if *resume && !self.has_checkpoint && self.existing_fingerprint.is_none() {
            let text = format!("no checkpoint {shown} to resume from: starting from the beginning");
            context.console.line(text);
        }
        Ok(())
    }

    /// Stops here if that was requested while the data were loaded. Collective.
    pub fn stop_after_loading(&self, context: &Context<'_>) -> Result<()> {
        let Some(reason) = context.control.stop_requested(context.world, Duration::ZERO) else {
            return Ok(());
        };
        let progress = if self.has_checkpoint {
            "before resuming from the checkpoint"
        } else {
            "with nothing to resume yet"
        };
        context.world.agree(Err(Error::Stopped(format!("{reason}: stopped after loading, {progress}"))))
    }

    /// Whether the existing output is the result of this run; if so, reports that, and writes `facts` as JSON. Collective.
    pub fn is_complete(
        &mut self,
        context: &Context<'_>,
        now: &Fingerprint,
        facts: impl FnOnce() -> Value,
    ) -> Result<bool> {
        let Context { world, console, .. } = context;
        let RunFiles { out, checkpoint_policy, .. } = &self.files;
        world.on_root(|| {
            let Some(made) = &self.existing_fingerprint else { return Ok(()) };
            refuse_different_output(context, out, made, now)?;
            self.existing_fingerprint =
                self.existing_fingerprint.take().filter(|made| made.difference(now).is_none());
            if let (Some(policy), Some(_)) = (checkpoint_policy, &self.existing_fingerprint) {
                policy.remove_leftover(now);
            }
            Ok(())
        })?;
        let complete = world.gather_to_all(u64::from(self.existing_fingerprint.is_some()))[0] == 1;
        if complete {
            console.line(format_args!(
                "{} is complete: made from the same data with the same options; nothing left to do",
                out.display()
            ));
            console.json(world, || {
                let mut facts = facts();
                facts["complete"] = json!(true);
                facts
            })?;
        }
        Ok(complete)
    }
}

/// Refuses to replace a different output without --force.
fn refuse_different_output(
    context: &Context<'_>,
    path: &Path,
    made: &Fingerprint,
    now: &Fingerprint,
) -> Result<()> {
    match made.difference(now) {
        Some(difference) if context.overwrite == Overwrite::Refuse => usage(format!(
            "{}: the file exists, and was {difference}; choose another --out, or pass --force to replace it",
            path.display()
        )),
        _ => Ok(()),
    }
}
