//! The checkpoint of one computation from start to end, and stopping that loses no work.

use std::time::{Duration, Instant};

use super::background_writer::{CheckpointWriter, WriterReport};
use super::load_newest::{SavedParts, load};
use super::snapshot_files::Checkpoint;
use super::{CheckpointPolicy, ExistingCheckpoint, Fingerprint, Snapshot};
use crate::error::{Error, Result};
use crate::fault;
use crate::job::{StopControl, StopReason};
use crate::progress::Progress;
use crate::world::World;

/// Opens or starts a checkpoint, saves to it between units of work, stops the work on request, and deletes the checkpoint
/// at the end. Rank 0 alone reads, writes and decides.
pub struct CheckpointSession<'a> {
    world: &'a World,
    control: &'a StopControl,
    /// Rank 0's; `None` without checkpoints.
    writer: Option<CheckpointWriter>,
    /// The checkpoint's name in messages.
    name: String,
    interval: u64,
    /// Number of the snapshot that an earlier run left, once the work has resumed from it.
    resumed: Option<u64>,
    last_call: Option<Instant>,
    longest_unit: Duration,
    warned: bool,
    waited: Duration,
    /// The report of the writer, once the checkpoint is deleted.
    last_report: WriterReport,
}

impl<'a> CheckpointSession<'a> {
    /// Opens the checkpoint of `policy`. Returns, on rank 0, the parts that an earlier run with the same fingerprint has
    /// saved. Collective.
    pub fn open(
        world: &'a World,
        control: &'a StopControl,
        policy: Option<&CheckpointPolicy>,
        fingerprint: Fingerprint,
        progress: &dyn Progress,
    ) -> Result<(CheckpointSession<'a>, Option<SavedParts>)> {
        let (mut writer, mut saved) = (None, None);
        world.on_root(|| {
            let Some(policy) = policy else { return Ok(()) };
            let found = match policy.existing {
                ExistingCheckpoint::Resume => load(&policy.file, &fingerprint)?,
                ExistingCheckpoint::Refuse | ExistingCheckpoint::Replace => None,
            };
            let checkpoint = match found {
                Some(found) => {
                    if let Some(damage) = found.newest_damage {
                        let file = policy.file.display();
                        progress
                            .warning(&format!("{file}: {damage}; resuming from the checkpoint before it"));
                    }
                    saved = Some(found.parts);
                    found.checkpoint
                }
                None => Checkpoint::begin(&policy.file, fingerprint),
            };
            match CheckpointWriter::new(checkpoint) {
                Ok(started) => writer = Some(started),
                Err(error) => {
                    progress.warning(&format!("no checkpoints, because no thread can start: {error}"))
                }
            }
            Ok(())
        })?;
        let session = CheckpointSession {
            world,
            control,
            writer,
            name: policy.map_or("no checkpoint".into(), |policy| policy.file.display().to_string()),
            interval: policy.map_or(1, |policy| policy.interval as u64),
            resumed: None,
            last_call: None,
            longest_unit: Duration::ZERO,
            warned: false,
            waited: Duration::ZERO,
            last_report: WriterReport::default(),
        };
        Ok((session, saved))
    }

    /// Returns whether this rank saves snapshots.
    pub fn saves(&self) -> bool {
        self.writer.is_some()
    }

    /// Records that the work continues from the saved parts, which are of unit `number` (`place`, for messages, is "after
    /// epoch 3").
    pub fn resumed_at(&mut self, number: u64, place: &str, progress: &dyn Progress) {
        self.resumed = Some(number);
        progress.message(&format!("resuming {place}"));
    }

    /// Returns the number of the snapshot that the work has resumed from.
    pub fn resumed(&self) -> Option<u64> {
        self.resumed
    }

    /// Saves the snapshot that `snapshot` makes in the given buffer, if one is due after `number` units of work. Returns an
    /// error, the same on all ranks, if the run must stop here. Its status is
    /// [`Stopped`](crate::error::ExitStatus::Stopped) if the work can be resumed. Collective.
    pub fn save_or_stop(
        &mut self,
        number: u64,
        place: &str,
        snapshot: impl FnOnce(Vec<u8>) -> Snapshot,
        progress: &dyn Progress,
    ) -> Result<()> {
        let now = Instant::now();
        if let Some(last) = self.last_call.replace(now) {
            self.longest_unit = self.longest_unit.max(now - last);
        }
        let report = self.report();
        if let Some(failure) = report.failure.as_ref().filter(|_| !self.warned) {
            self.warned = true;
            let name = &self.name;
            progress.warning(&format!(
                "{name}: cannot be written ({failure}); the work continues, but it is lost if it is stopped now"
            ));
        }
        // Time for the next unit, another in case it is slow, and the checkpoint after it.
        let need = 2 * self.longest_unit + Duration::from_secs_f64(report.longest);
        let reason = self.control.stop_requested(self.world, need);
        let due = reason.is_some() || number.is_multiple_of(self.interval);
        if let Some(writer) = self.writer.as_ref().filter(|_| due && self.resumed != Some(number)) {
            let start = Instant::now();
            writer.offer(number, snapshot(writer.recycled_buffer()));
            if fault::waits_for_checkpoints() {
                writer.flush();
            }
            self.waited += start.elapsed();
        }
        let Some(reason) = reason else { return Ok(()) };
        self.world.on_root(|| Err(self.stop_error(reason, number, place)))
    }

    fn stop_error(&self, reason: StopReason, number: u64, place: &str) -> Error {
        let report = self.writer.as_ref().map(CheckpointWriter::flush).unwrap_or_default();
        let (stopped, name) = (format!("{reason}: stopped {place}"), &self.name);
        let failure = report.failure.unwrap_or_else(|| "checkpoints are turned off".into());
        match report.newest.or(self.resumed) {
            Some(newest) if newest == number => Error::Stopped(format!("{stopped}, saved in {name}")),
            Some(_) => Error::Stopped(format!(
                "{stopped}; {name} holds an earlier state, because this one cannot be saved ({failure})"
            )),
            None => {
                Error::StoppedUnsaved(format!("{stopped}, and nothing can be resumed: {name}: {failure}"))
            }
        }
    }

    /// Returns the numbers of files and bytes written so far; 0 on all ranks but 0.
    pub fn report(&self) -> WriterReport {
        self.writer.as_ref().map_or_else(|| self.last_report.clone(), CheckpointWriter::report)
    }

    /// Returns the seconds that the work has waited for checkpoints.
    pub fn seconds(&self) -> f64 {
        self.waited.as_secs_f64()
    }

    /// Deletes the checkpoint, once the result is stored elsewhere.
    pub fn remove(&mut self, progress: &dyn Progress) {
        self.last_report = self.report();
        if let Some(Err(error)) = self.writer.take().map(CheckpointWriter::remove) {
            progress.warning(&format!(
                "{}: cannot delete this checkpoint, which is obsolete: {error}",
                self.name
            ));
        }
    }
}
