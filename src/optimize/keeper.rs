//! What happens around a fit: checkpoints, and the wish to stop.

use std::time::{Duration, Instant};

use super::around::Around;
use super::observer::Observer;
use super::saved::save;
use super::seconds::timed;
use super::state::{State, Turn};
use crate::checkpoint::{Report, Writer};
use crate::error::{Error, Result};
use crate::fault;
use crate::job::{Control, Reason};
use crate::world::World;

pub(super) struct Keeper<'a> {
    pub world: &'a World,
    pub control: &'a Control,
    pub observer: &'a mut dyn Observer,
    /// Rank 0's.
    pub writer: Option<Writer>,
    /// What messages call the checkpoint.
    pub name: String,
    /// Iterations from one checkpoint to the next.
    pub every: usize,
    /// Where the newest snapshot on disk stands, if an earlier run made it.
    pub resumed: Option<Turn>,
    /// Spent on checkpoints while the fit waits.
    pub seconds: f64,
    pub pace: Pace,
    pub warned: bool,
}

impl Around for Keeper<'_> {
    fn between(&mut self, turn: Turn, state: Option<&State>) -> Result<()> {
        if let Some(state) = state.filter(|_| self.pace.last.is_none()) {
            self.observer.began(state, self.resumed.is_some());
        }
        self.pace.tick();
        let report = self.writer.as_ref().map(Writer::report).unwrap_or_default();
        self.warn_once(&report);
        // The iteration to come, one more in case it is slow, and the checkpoint after it.
        let need = 2 * self.pace.longest + Duration::from_secs_f64(report.longest);
        let reason = self.control.asked(self.world, need);
        let due = turn.iteration.is_multiple_of(self.every) || reason.is_some();
        if let (Some(writer), Some(state)) = (&self.writer, state)
            && due
            && self.resumed != Some(turn)
        {
            timed(&mut self.seconds, || {
                writer.offer(turn.iteration as u64, save(turn, state));
                if fault::waits_for_checkpoints() {
                    writer.flush();
                }
            });
        }
        fault::at(self.world.rank(), "iteration")?;
        match reason {
            Some(reason) => {
                self.world.agree(state.map_or(Ok(()), |state| Err(self.stop(reason, turn, state))))
            }
            None => Ok(()),
        }
    }

    fn saves(&self) -> bool {
        self.writer.is_some()
    }

    fn stepped(&mut self, state: &State) {
        self.observer.stepped(state);
    }
}

impl Keeper<'_> {
    /// A fit whose checkpoints cannot be written goes on: its result is still wanted.
    fn warn_once(&mut self, report: &Report) {
        if let Some(failure) = report.failure.as_ref().filter(|_| !self.warned) {
            self.warned = true;
            self.observer.warn(&format!(
                "{}: cannot be written ({failure}); the fit goes on, but if it is stopped now, iterations are lost",
                self.name
            ));
        }
    }

    /// Saves what can be saved, and says how much that is.
    fn stop(&mut self, reason: Reason, turn: Turn, state: &State) -> Error {
        let report = timed(&mut self.seconds, || self.writer.as_ref().map(Writer::flush)).unwrap_or_default();
        let stopped = format!("{reason}: stopped after iteration {}", state.trajectory.len());
        let name = &self.name;
        let newest = report.newest.or(self.resumed.map(|turn| turn.iteration as u64));
        let failure = report.failure.unwrap_or_else(|| "no checkpoints were asked for".into());
        match newest {
            Some(iteration) if iteration == turn.iteration as u64 => {
                Error::Stopped(format!("{stopped}, which {name} holds"))
            }
            Some(_) => Error::Stopped(format!(
                "{stopped}; {name} holds an earlier one, because this one could not be saved ({failure})"
            )),
            None => Error::Unsaved(format!("{stopped}, and nothing can be resumed: {name}: {failure}")),
        }
    }
}

/// How long iterations take.
#[derive(Default)]
pub(super) struct Pace {
    last: Option<Instant>,
    longest: Duration,
}

impl Pace {
    fn tick(&mut self) {
        let now = Instant::now();
        if let Some(last) = self.last.replace(now) {
            self.longest = self.longest.max(now - last);
        }
    }
}
