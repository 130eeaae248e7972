//! How far a training has come, kept on disk between its units of work (groups of a tree, epochs of a network).

use std::time::{Duration, Instant};

use super::training_observer::TrainingObserver;
use crate::checkpoint::{Checkpoint, CheckpointWriter, Fingerprint, Snapshot, WriterReport, load};
use crate::error::{Error, Result};
use crate::fault;
use crate::job::{StopControl, StopReason};
use crate::optimize::{CheckpointPolicy, ExistingCheckpoint};
use crate::world::World;

/// What an earlier run has saved: the parts of its newest [`Snapshot`].
pub struct SavedTraining {
    pub lasting: Vec<Vec<u8>>,
    pub fresh: Vec<u8>,
}

/// Saves beside the work, and stops it in order when that is asked.
pub struct TrainingCheckpoint<'a> {
    world: &'a World,
    control: &'a StopControl,
    /// Rank 0's.
    writer: Option<CheckpointWriter>,
    /// What messages call the checkpoint.
    name: String,
    /// The number of the newest snapshot that an earlier run made.
    resumed: Option<u64>,
    last_unit_end: Option<Instant>,
    longest_unit: Duration,
    warned: bool,
}

impl<'a> TrainingCheckpoint<'a> {
    /// Opens what `keep` says; rank 0 gets what an earlier run with the same fingerprint has saved. Collective.
    pub fn open(
        world: &'a World,
        control: &'a StopControl,
        keep: Option<&CheckpointPolicy>,
        fingerprint: Fingerprint,
        observer: &dyn TrainingObserver,
    ) -> Result<(TrainingCheckpoint<'a>, Option<SavedTraining>)> {
        let (mut writer, mut saved) = (None, None);
        world.on_root(|| {
            let Some(keep) = keep else { return Ok(()) };
            let found = if keep.existing == ExistingCheckpoint::Resume {
                load(&keep.file, &fingerprint)?
            } else {
                None
            };
            let checkpoint = match found {
                Some(found) => {
                    if let Some(damage) = found.newest_damage {
                        observer.warn(&format!(
                            "{}: {damage}; going on from the one before",
                            keep.file.display()
                        ));
                    }
                    saved = Some(SavedTraining { lasting: found.lasting, fresh: found.fresh });
                    found.checkpoint
                }
                None => Checkpoint::begin(&keep.file, fingerprint),
            };
            match CheckpointWriter::new(checkpoint) {
                Ok(started) => writer = Some(started),
                Err(error) => observer.warn(&format!("no checkpoints: {error}")),
            }
            Ok(())
        })?;
        let name = keep.map_or("no checkpoint".into(), |keep| keep.file.display().to_string());
        let checkpoint = TrainingCheckpoint {
            world,
            control,
            writer,
            name,
            resumed: None,
            last_unit_end: None,
            longest_unit: Duration::ZERO,
            warned: false,
        };
        Ok((checkpoint, saved))
    }

    /// The checkpoint, as messages call it.
    pub fn display_name(&self) -> &str {
        &self.name
    }

    /// What was saved has been taken over, and stands at `number`.
    pub fn resumed_at(&mut self, number: u64) {
        self.resumed = Some(number);
    }

    /// Between two units of work: `number` of them are done (`what`, for messages: `after epoch 3`). Rank 0 has
    /// `snapshot` saved, which is given empty space for the fresh part. Ends with an error, the same on all ranks,
    /// when the run is to stop here. Collective.
    pub fn save_or_stop(
        &mut self,
        number: u64,
        what: &str,
        snapshot: impl FnOnce(Vec<u8>) -> Snapshot,
        observer: &dyn TrainingObserver,
    ) -> Result<()> {
        let now = Instant::now();
        if let Some(last) = self.last_unit_end.replace(now) {
            self.longest_unit = self.longest_unit.max(now - last);
        }
        let report = self.writer.as_ref().map(CheckpointWriter::report).unwrap_or_default();
        if let Some(failure) = report.failure.as_ref().filter(|_| !self.warned) {
            self.warned = true;
            observer.warn(&format!(
                "{}: cannot be written ({failure}); the training goes on, but if it is stopped now, work is lost",
                self.name
            ));
        }
        if let Some(writer) = self.writer.as_ref().filter(|_| self.resumed != Some(number)) {
            writer.offer(number, snapshot(writer.recycled_buffer()));
            if fault::waits_for_checkpoints() {
                writer.flush();
            }
        }
        // The unit to come, one more in case it is slow, and the checkpoint after it.
        let need = 2 * self.longest_unit + Duration::from_secs_f64(report.longest);
        let reason = self.control.stop_requested(self.world, need);
        fault::inject(self.world.rank(), "unit")?;
        match reason {
            Some(reason) => {
                let root = self.world.is_root();
                self.world.agree(if root { Err(self.stop_error(reason, number, what)) } else { Ok(()) })
            }
            None => Ok(()),
        }
    }

    fn stop_error(&self, reason: StopReason, number: u64, what: &str) -> Error {
        let report = self.writer.as_ref().map(CheckpointWriter::flush).unwrap_or_default();
        let stopped = format!("{reason}: stopped {what}");
        let name = &self.name;
        let failure = report.failure.unwrap_or_else(|| "no checkpoints were asked for".into());
        match report.newest.or(self.resumed) {
            Some(newest) if newest == number => Error::Stopped(format!("{stopped}, which {name} holds")),
            Some(_) => Error::Stopped(format!(
                "{stopped}; {name} holds an earlier state, because this one could not be saved ({failure})"
            )),
            None => {
                Error::StoppedUnsaved(format!("{stopped}, and nothing can be resumed: {name}: {failure}"))
            }
        }
    }

    /// What was written so far; rank 0's.
    pub fn report(&self) -> WriterReport {
        self.writer.as_ref().map(CheckpointWriter::report).unwrap_or_default()
    }

    /// The model is written: the checkpoint goes. That it could not be removed is worth a warning, not more.
    pub fn remove(self, observer: &dyn TrainingObserver) {
        if let Some(Err(error)) = self.writer.map(CheckpointWriter::remove) {
            observer.warn(&format!("the checkpoint is needed no more, but cannot be removed: {error}"));
        }
    }
}
