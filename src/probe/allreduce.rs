//! The time that ranks take to add their counts.

use std::time::Instant;

use crate::world::World;

/// The times of the slowest rank.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct AllreduceTiming {
    pub ranks: usize,
    /// Time to add one number of 8 bytes.
    pub latency_seconds: f64,
    /// The length of the vector, one count per label.
    pub labels: usize,
    /// The bytes of the vector, in the type in which counts are usually sent.
    pub bytes: u64,
    /// Time to add the vector.
    pub seconds: f64,
}

/// Returns the median times to add a number and a vector of `labels` counts over all ranks, each repeated for about `limit`
/// seconds. Collective.
pub fn time_allreduce(world: &World, labels: usize, limit: f64) -> AllreduceTiming {
    let latency_seconds = median(world, limit, || world.sum(&mut [1], u64::MAX));
    let mut counts = vec![1; labels];
    let seconds = median(world, limit, || {
        counts.fill(1);
        world.sum(&mut counts, u32::MAX.into());
    });
    AllreduceTiming { ranks: world.size(), latency_seconds, labels, bytes: 4 * labels as u64, seconds }
}

/// Returns the median time of `work` on the slowest rank. All ranks repeat it equally often.
fn median(world: &World, limit: f64, mut work: impl FnMut()) -> f64 {
    let mut time = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    // The first exchanges also set up connections.
    let warm = (0..3).map(|_| time()).fold(f64::INFINITY, f64::min);
    let mut slowest = [warm];
    world.max(&mut slowest);
    let rounds = (limit / slowest[0].max(1e-7)).clamp(3.0, 2000.0) as usize;
    let mut times: Vec<f64> = (0..rounds).map(|_| time()).collect();
    times.sort_by(f64::total_cmp);
    let mut middle = [times[rounds / 2]];
    world.max(&mut middle);
    middle[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_almost_no_time_on_one_rank() {
        let found = time_allreduce(&World::alone(), 1000, 0.001);
        assert_eq!((found.ranks, found.labels, found.bytes), (1, 1000, 4000));
        assert!(found.latency_seconds >= 0.0 && found.latency_seconds < 0.01, "{found:?}");
        assert!(found.seconds >= 0.0 && found.seconds < 0.1, "{found:?}");
    }
}
