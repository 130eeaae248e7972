//! Requests to stop, agreed on by all ranks at safe places.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::{StopReason, TimeLimit, signals, slurm_time};
use crate::world::{SLURM_JOB_ID, World};

/// The requests from outside to stop a run. One for the whole program.
pub struct StopControl {
    start: Instant,
    graceful: AtomicBool,
    end: Arc<OnceLock<Deadline>>,
}

/// The end of the available time.
#[derive(Clone, Copy, Debug)]
struct Deadline {
    at: Instant,
    /// Time for what cannot be measured beforehand: the launcher, the file system, the other ranks.
    reserve: Duration,
}

impl Deadline {
    const RESERVE: Duration = Duration::from_secs(5);

    /// Reserves at most a tenth of a short time.
    fn new(start: Instant, at: Instant) -> Deadline {
        Deadline { at, reserve: Deadline::RESERVE.min(at.saturating_duration_since(start) / 10) }
    }

    fn allows(self, need: Duration) -> bool {
        self.at.saturating_duration_since(Instant::now()) > need.saturating_add(self.reserve)
    }
}

impl Default for StopControl {
    fn default() -> StopControl {
        StopControl::new()
    }
}

impl StopControl {
    /// Starts the clock of a `--time-limit`. No stop is requested before [`StopControl::enable_graceful_stop`].
    pub fn new() -> StopControl {
        StopControl { start: Instant::now(), graceful: AtomicBool::new(false), end: Arc::default() }
    }

    /// Makes the first signal, and the end of `limit` or of the time that Slurm allows, a request to stop at the next safe
    /// place. For commands that can resume.
    pub fn enable_graceful_stop(&self, world: &World, limit: Option<TimeLimit>) {
        self.graceful.store(true, Ordering::SeqCst);
        signals::enable_graceful_stop();
        // Only the clock of rank 0 counts.
        if !world.is_root() {
            return;
        }
        let start = self.start;
        match limit {
            Some(TimeLimit(limit)) => {
                let _ = self.end.set(Deadline::new(start, start + limit));
            }
            None if std::env::var_os(SLURM_JOB_ID).is_some() => {
                // Slurm may answer slowly.
                let end = Arc::clone(&self.end);
                std::thread::spawn(move || {
                    if let Some(at) = slurm_time::job_end() {
                        let _ = end.set(Deadline::new(start, at));
                    }
                });
            }
            None => (),
        }
    }

    /// Returns the reason to stop here, the same on all ranks. `need`, of rank 0, is the time it takes to reach the next safe
    /// place and leave in order. Collective.
    pub fn stop_requested(&self, world: &World, need: Duration) -> Option<StopReason> {
        if !self.graceful.load(Ordering::SeqCst) {
            return None;
        }
        let up = self.end.get().is_some_and(|end| !end.allows(need)).then_some(StopReason::Time);
        let mut code = [signals::pending_signal().or(up).map_or(0.0, StopReason::code)];
        world.max(&mut code);
        StopReason::from_code(code[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_cannot_resume_gets_no_request() {
        assert_eq!(StopControl::new().stop_requested(&World::alone(), Duration::MAX), None);
    }

    #[test]
    fn stops_when_the_time_left_is_too_short() {
        let world = World::alone();
        let control = StopControl::new();
        control.enable_graceful_stop(&world, Some("1:00:00".parse().unwrap()));
        assert_eq!(control.stop_requested(&world, Duration::from_secs(60)), None);
        assert_eq!(control.stop_requested(&world, Duration::from_secs(3598)), Some(StopReason::Time));
        assert_eq!(control.stop_requested(&world, Duration::from_secs(5000)), Some(StopReason::Time));
    }

    #[test]
    fn reserves_a_part_of_a_short_time() {
        let start = Instant::now();
        let end = Deadline::new(start, start + Duration::from_secs(10));
        assert_eq!(end.reserve, Duration::from_secs(1));
        assert!(end.allows(Duration::from_secs(8)));
    }
}
