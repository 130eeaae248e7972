//! Whether to stop: agreed by all ranks, at safe places only.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::{StopReason, TimeLimit, signals, slurm_time};
use crate::world::World;

/// What a run is told from outside. One for the whole program.
pub struct StopControl {
    start: Instant,
    graceful: AtomicBool,
    end: Arc<OnceLock<Deadline>>,
}

/// When the time is up.
#[derive(Clone, Copy, Debug)]
struct Deadline {
    at: Instant,
    /// Kept free for what nobody can measure beforehand: the launcher, the file system, the other ranks.
    reserve: Duration,
}

impl Deadline {
    const RESERVE: Duration = Duration::from_secs(5);

    /// Of a short time the reserve takes only a part.
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
    /// The time of a `--time-limit` begins here. Until [`StopControl::enable_graceful_stop`] nothing is ever asked.
    pub fn new() -> StopControl {
        StopControl { start: Instant::now(), graceful: AtomicBool::new(false), end: Arc::default() }
    }

    /// From now on the first signal is a wish to stop at the next safe place, and so is the end of the time: of `limit`,
    /// or of what Slurm gave. For commands that lose nothing by it, because they can go on later.
    pub fn enable_graceful_stop(&self, world: &World, limit: Option<TimeLimit>) {
        self.graceful.store(true, Ordering::SeqCst);
        signals::enable_graceful_stop();
        // One clock decides.
        if !world.is_root() {
            return;
        }
        let start = self.start;
        match limit {
            Some(TimeLimit(limit)) => {
                let _ = self.end.set(Deadline::new(start, start + limit));
            }
            None if std::env::var_os("SLURM_JOB_ID").is_some() => {
                // Slurm may take its time to answer; the work need not wait for it.
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

    /// Whether all ranks are to stop here, and why; the same answer on all of them. `need` is what it takes to come to
    /// the next safe place and leave in order from there; rank 0's counts. Collective.
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
    fn nothing_is_asked_of_a_run_that_cannot_stop_in_order() {
        assert_eq!(StopControl::new().stop_requested(&World::alone(), Duration::MAX), None);
    }

    #[test]
    fn time_is_up_when_it_does_not_suffice_for_what_is_needed() {
        let world = World::alone();
        let control = StopControl::new();
        control.enable_graceful_stop(&world, Some("1:00:00".parse().unwrap()));
        assert_eq!(control.stop_requested(&world, Duration::from_secs(60)), None);
        assert_eq!(control.stop_requested(&world, Duration::from_secs(3598)), Some(StopReason::Time));
        assert_eq!(control.stop_requested(&world, Duration::from_secs(5000)), Some(StopReason::Time));
    }

    #[test]
    fn a_short_time_is_not_all_reserve() {
        let start = Instant::now();
        let end = Deadline::new(start, start + Duration::from_secs(10));
        assert_eq!(end.reserve, Duration::from_secs(1));
        assert!(end.allows(Duration::from_secs(8)));
    }
}
