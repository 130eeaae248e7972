//! Wall time of the phases of an iteration.

use std::time::Instant;

use crate::world::World;

/// Seconds summed over iterations. After [`PhaseSeconds::max_over_ranks`] each phase is that of the slowest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct PhaseSeconds {
    /// Scoring, picking and counting this rank's rows.
    pub oracle: f64,
    /// Adding counts up over ranks, sending the rule to them, and waiting for those that are not done.
    pub reduce: f64,
    /// The next rule and its gap.
    pub gradient: f64,
    /// The step towards it.
    pub search: f64,
    /// Making copies for checkpoints and waiting for their files; they are written beside the work.
    pub checkpoint: f64,
}

impl PhaseSeconds {
    /// Those of all ranks. Together they are the wall time of the rank that took longest.
    pub fn max_over_ranks(&mut self, world: &World) {
        let (mut each, mut all) = (self.to_array(), [self.to_array().iter().sum()]);
        world.max(&mut each);
        world.max(&mut all);
        *self = PhaseSeconds::from_array(each).with_total(all[0]);
    }

    /// Takes what is more than `all` of them from waiting: while one rank has a phase of its own, the others wait for it, and
    /// the longest wait is not of the rank with the longest work.
    fn with_total(self, all: f64) -> PhaseSeconds {
        let work = self.to_array().iter().sum::<f64>() - self.reduce;
        PhaseSeconds { reduce: (all - work).max(0.0), ..self }
    }

    pub(super) fn to_array(self) -> [f64; 5] {
        [self.oracle, self.reduce, self.gradient, self.search, self.checkpoint]
    }

    pub(super) fn from_array([oracle, reduce, gradient, search, checkpoint]: [f64; 5]) -> PhaseSeconds {
        PhaseSeconds { oracle, reduce, gradient, search, checkpoint }
    }
}

/// Runs `work` and adds the time it took to `total`.
pub(super) fn timed<T>(total: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *total += start.elapsed().as_secs_f64();
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_work_is_not_counted_beside_that_work() {
        // Rank 0 counts for 3 s, waits for 1, and searches for 2; rank 1 counts for 4 s and waits for 2.
        let longest = PhaseSeconds { oracle: 4.0, reduce: 2.0, search: 2.0, ..PhaseSeconds::default() };
        assert_eq!(
            longest.with_total(6.0),
            PhaseSeconds { oracle: 4.0, reduce: 0.0, search: 2.0, ..PhaseSeconds::default() }
        );
        let alone = PhaseSeconds { oracle: 4.0, reduce: 0.5, search: 2.0, ..PhaseSeconds::default() };
        assert_eq!(alone.with_total(6.5), alone);
    }
}
