//! What earlier runs of the same command have left: a result, a checkpoint, nothing.

use std::path::Path;

use serde_json::{Value, json};

use super::common::Context;
use crate::checkpoint::{Checkpoint, Fingerprint, look};
use crate::error::{Result, usage};
use crate::optimize::Keep;
use crate::store::Overwrite;

/// What a command reads and is going to write.
pub(super) struct Files<'a> {
    pub inputs: Vec<&'a Path>,
    pub out: &'a Path,
    /// None when no checkpoints are wanted.
    pub keep: Option<&'a Keep>,
    pub resume: bool,
    /// Reads what an output says it was made from.
    pub made_from: fn(&Path) -> Option<String>,
}

/// What was found; rank 0 knows.
pub(super) struct Earlier<'a> {
    files: Files<'a>,
    /// What the output that is there was made from, where that may be the same.
    made_from: Option<Fingerprint>,
    /// Whether there is a checkpoint to go on from.
    begun: bool,
}

impl<'a> Earlier<'a> {
    /// Looks before anything is loaded, and refuses what must not be replaced. `asked` is what decides the result, as far
    /// as it is known then. Collective.
    pub fn look(context: &Context<'_>, files: Files<'a>, asked: &Fingerprint) -> Result<Earlier<'a>> {
        let mut earlier = Earlier { files, made_from: None, begun: false };
        context.world.on_root(|| earlier.look_here(context, asked))?;
        Ok(earlier)
    }

    fn look_here(&mut self, context: &Context<'_>, asked: &Fingerprint) -> Result<()> {
        let Files { inputs, out, keep, resume, made_from } = &self.files;
        context.check_apart(out, inputs)?;
        let there = *resume && out.symlink_metadata().is_ok();
        let made = there.then(|| made_from(out)).flatten();
        self.made_from = made.and_then(|text| Fingerprint::from_text(&text));
        match &self.made_from {
            Some(made) => {
                refuse_other(context, out, made, asked)?;
                Overwrite::Replace.check(out)?;
            }
            None => context.overwrite.check(out)?,
        }
        let Some(keep) = keep else { return Ok(()) };
        let mut others = inputs.clone();
        others.push(out);
        context.check_apart(&keep.file, &others)?;
        if std::path::absolute(&keep.file).ok() == std::path::absolute(out).ok() {
            return usage(format!("--checkpoint and --out are the same file, {}", keep.file.display()));
        }
        self.begun = keep.check(asked)?;
        if *resume && !self.begun && self.made_from.is_none() {
            context.console.line(format_args!(
                "no checkpoint {} to go on from: starting from the beginning",
                keep.file.display()
            ));
        }
        Ok(())
    }

    /// For a run that is stopped before it has done anything.
    pub fn standing(&self) -> &'static str {
        if self.begun { "before it went on from its checkpoint" } else { "with nothing to resume yet" }
    }

    /// Whether the output that is there is what this run would make; then that is said, and written as JSON with these
    /// `facts`. Collective.
    pub fn is_complete(
        &mut self,
        context: &Context<'_>,
        now: &Fingerprint,
        facts: impl FnOnce() -> Value,
    ) -> Result<bool> {
        let Context { world, console, .. } = context;
        let Files { out, keep, .. } = &self.files;
        world.on_root(|| {
            let Some(made) = &self.made_from else { return Ok(()) };
            refuse_other(context, out, made, now)?;
            self.made_from = self.made_from.take().filter(|made| made.difference(now).is_none());
            if let Some(keep) = keep.filter(|_| self.made_from.is_some()) {
                remove_needless(&keep.file, now);
            }
            Ok(())
        })?;
        let complete = world.gather_to_all(u64::from(self.made_from.is_some()))[0] == 1;
        if complete {
            console.line(format_args!(
                "{} is complete: it was made from the same data with the same options; nothing is left to do",
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

/// A run that was killed after it had written its output has left the checkpoint too.
fn remove_needless(file: &Path, now: &Fingerprint) {
    if look(file, now).is_ok_and(|there| there) {
        let _ = Checkpoint::begin(file, now.clone()).remove();
    }
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
