//! Wall time of the phases of an iteration.

use std::time::Instant;

use crate::world::World;

/// Seconds summed over iterations. After [`Seconds::slowest`] they are those of the slowest rank.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Seconds {
    /// Scoring, picking and counting this rank's rows.
    pub oracle: f64,
    /// Adding counts up over ranks and sending the rule to them.
    pub reduce: f64,
    pub gradient: f64,
    pub search: f64,
}

impl Seconds {
    pub fn slowest(&mut self, world: &World) {
        let mut all = [self.oracle, self.reduce, self.gradient, self.search];
        world.max(&mut all);
        [self.oracle, self.reduce, self.gradient, self.search] = all;
    }
}

/// Runs `work` and adds the time it took to `total`.
pub(super) fn timed<T>(total: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *total += start.elapsed().as_secs_f64();
    result
}
