//! What happens around a fit: checkpoints, and the wish to stop.

use std::time::{Duration, Instant};

use super::checkpoint_codec::to_snapshot;
use super::loop_hooks::LoopHooks;
use super::observer::Observer;
use super::phase_seconds::timed;
use super::state::{FitState, IterationCursor};
use crate::checkpoint::{CheckpointWriter, WriterReport};
use crate::error::{Error, Result};
use crate::fault;
use crate::job::{StopControl, StopReason};
use crate::world::World;

pub(super) struct CheckpointHooks<'a> {
    pub world: &'a World,
    pub control: &'a StopControl,
    pub observer: &'a mut dyn Observer,
    /// Rank 0's.
    pub writer: Option<CheckpointWriter>,
    /// What messages call the checkpoint.
    pub name: String,
    /// Iterations from one checkpoint to the next.
    pub interval: usize,
    /// Where the newest snapshot on disk stands, if an earlier run made it.
    pub resumed: Option<IterationCursor>,
    /// Spent on checkpoints while the fit waits.
    pub seconds: f64,
    pub timer: IterationTimer,
    pub warned: bool,
}

impl LoopHooks for CheckpointHooks<'_> {
    fn before_iteration(&mut self, cursor: IterationCursor, state: Option<&FitState>) -> Result<()> {
        if let Some(state) = state.filter(|_| self.timer.last.is_none()) {
            self.observer.fit_started(state, self.resumed.is_some());
        }
        self.timer.tick();
        let report = self.writer.as_ref().map(CheckpointWriter::report).unwrap_or_default();
        self.warn_once(&report);
        // The iteration to come, one more in case it is slow, and the checkpoint after it.
        let need = 2 * self.timer.longest + Duration::from_secs_f64(report.longest);
        let reason = self.control.stop_requested(self.world, need);
        let due = cursor.iteration.is_multiple_of(self.interval) || reason.is_some();
        if let (Some(writer), Some(state)) = (&self.writer, state)
            && due
            && self.resumed != Some(cursor)
        {
            timed(&mut self.seconds, || {
                writer.offer(cursor.iteration as u64, to_snapshot(cursor, state));
                if fault::waits_for_checkpoints() {
                    writer.flush();
                }
            });
        }
        fault::inject(self.world.rank(), "iteration")?;
        match reason {
            Some(reason) => {
                self.world.agree(state.map_or(Ok(()), |state| Err(self.stop(reason, cursor, state))))
            }
            None => Ok(()),
        }
    }

    fn saves_checkpoints(&self) -> bool {
        self.writer.is_some()
    }

    fn step_taken(&mut self, state: &FitState) {
        self.observer.step_taken(state);
    }
}

impl CheckpointHooks<'_> {
    /// A fit whose checkpoints cannot be written goes on: its result is still wanted.
    fn warn_once(&mut self, report: &WriterReport) {
        if let Some(failure) = report.failure.as_ref().filter(|_| !self.warned) {
            self.warned = true;
            self.observer.warn(&format!(
                "{}: cannot be written ({failure}); the fit goes on, but if it is stopped now, iterations are lost",
                self.name
            ));
        }
    }

    /// Saves what can be saved, and says how much that is.
    fn stop(&mut self, reason: StopReason, cursor: IterationCursor, state: &FitState) -> Error {
        let report = timed(&mut self.seconds, || self.writer.as_ref().map(CheckpointWriter::flush))
            .unwrap_or_default();
        let stopped = format!("{reason}: stopped after iteration {}", state.trajectory.len());
        let name = &self.name;
        let newest = report.newest.or(self.resumed.map(|cursor| cursor.iteration as u64));
        let failure = report.failure.unwrap_or_else(|| "no checkpoints were asked for".into());
        match newest {
            Some(iteration) if iteration == cursor.iteration as u64 => {
                Error::Stopped(format!("{stopped}, which {name} holds"))
            }
            Some(_) => Error::Stopped(format!(
                "{stopped}; {name} holds an earlier one, because this one could not be saved ({failure})"
            )),
            None => {
                Error::StoppedUnsaved(format!("{stopped}, and nothing can be resumed: {name}: {failure}"))
            }
        }
    }
}

/// How long iterations take.
#[derive(Default)]
pub(super) struct IterationTimer {
    last: Option<Instant>,
    longest: Duration,
}

impl IterationTimer {
    fn tick(&mut self) {
        let now = Instant::now();
        if let Some(last) = self.last.replace(now) {
            self.longest = self.longest.max(now - last);
        }
    }
}
