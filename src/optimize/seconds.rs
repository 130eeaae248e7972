//! Wall time of the phases of an iteration.

use std::time::Instant;

use crate::world::World;

/// Seconds summed over iterations. After [`Seconds::slowest`] they are those of the slowest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Seconds {
    /// Scoring, picking and counting this rank's rows.
    pub oracle: f64,
    /// Adding counts up over ranks and sending the rule to them.
    pub reduce: f64,
    pub gradient: f64,
    pub search: f64,
    /// Making copies for checkpoints and waiting for their files; they are written beside the work.
    pub checkpoint: f64,
}

impl Seconds {
    pub fn slowest(&mut self, world: &World) {
        let mut all = self.to_array();
        world.max(&mut all);
        *self = Seconds::from_array(all);
    }

    pub(super) fn to_array(self) -> [f64; 5] {
        [self.oracle, self.reduce, self.gradient, self.search, self.checkpoint]
    }

    pub(super) fn from_array([oracle, reduce, gradient, search, checkpoint]: [f64; 5]) -> Seconds {
        Seconds { oracle, reduce, gradient, search, checkpoint }
    }
}

/// Runs `work` and adds the time it took to `total`.
pub(super) fn timed<T>(total: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *total += start.elapsed().as_secs_f64();
    result
}
