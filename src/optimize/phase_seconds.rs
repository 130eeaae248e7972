//! Wall time of the phases of iterations.

use std::time::Instant;

use crate::world::World;

/// Seconds summed over iterations; after [`PhaseSeconds::max_over_ranks`], of the slowest rank in each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct PhaseSeconds {
    /// Scoring, selecting and counting this rank's rows.
    pub oracle: f64,
    /// Summing counts over ranks, sending rules, and waiting for other ranks.
    pub reduce: f64,
    /// Computing the next rule and its gap.
    pub gradient: f64,
    /// Choosing the step.
    pub search: f64,
    /// Copying for checkpoints, which are written in the background, and waiting for their files.
    pub checkpoint: f64,
}

impl PhaseSeconds {
    /// Takes the maximum over ranks. The sum of the phases becomes the wall time of the slowest rank.
    pub fn max_over_ranks(&mut self, world: &World) {
        let (mut each, mut all) = (self.to_array(), [self.to_array().iter().sum()]);
        world.max(&mut each);
        world.max(&mut all);
        *self = PhaseSeconds::from_array(each).with_total(all[0]);
    }

    /// Reduces the waiting time so that the phases sum to `all`: the longest wait and the longest work are of different ranks.
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

/// Runs `work` and adds its time to `total`.
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
    fn counts_either_the_work_of_a_rank_or_the_wait_for_it() {
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
