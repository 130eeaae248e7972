//! Whether marginals mean what they say.

use crate::shard::{FixedPoint, Shard};
use crate::world::World;

/// Stored marginals of one range of values.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Bin {
    pub low: f64,
    pub high: f64,
    pub entries: u64,
    pub mean: f64,
    /// Share of those entries whose label is there.
    pub observed: f64,
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct Calibration {
    /// Expected calibration error over the stored marginals, ten bins of equal width.
    pub error: f64,
    /// Sum of the marginals of an instance, on average.
    pub mean_sum: f64,
    /// Share of the positives that have a stored marginal.
    pub recalled: f64,
    pub bins: Vec<Bin>,
}

const BINS: usize = 10;

/// Compares stored marginals with labels. Collective.
pub fn calibration(world: &World, shard: &Shard) -> Calibration {
    // A row may hold every label: as many terms as there are cells, as far as 64 bits go.
    let cells = shard.total_rows.saturating_mul(shard.labels() as u64);
    let fixed = FixedPoint::for_terms(cells);
    let mut sums = vec![0u64; 3 * BINS + 1];
    for local in 0..shard.local_rows() {
        let truth = shard.true_labels(local);
        sums[3 * BINS] += truth.len() as u64;
        for (label, value) in shard.marginals.labelled(local) {
            let bin = ((f64::from(value) * BINS as f64) as usize).min(BINS - 1);
            sums[3 * bin] += 1;
            sums[3 * bin + 1] += fixed.encode(value.into());
            sums[3 * bin + 2] += u64::from(truth.binary_search(&label).is_ok());
        }
    }
    world.sum(&mut sums, u64::MAX);
    let ratio = |above: f64, below: u64| if below == 0 { 0.0 } else { above / below as f64 };
    let bins: Vec<Bin> = sums[..3 * BINS]
        .chunks(3)
        .enumerate()
        .map(|(at, bin)| Bin {
            low: at as f64 / BINS as f64,
            high: (at + 1) as f64 / BINS as f64,
            entries: bin[0],
            mean: ratio(fixed.decode(bin[1]), bin[0]),
            observed: ratio(bin[2] as f64, bin[0]),
        })
        .collect();
    let entries: u64 = bins.iter().map(|bin| bin.entries).sum();
    let weighted = |value: fn(&Bin) -> f64| bins.iter().map(|bin| bin.entries as f64 * value(bin)).sum();
    Calibration {
        error: ratio(weighted(|bin| (bin.mean - bin.observed).abs()), entries),
        mean_sum: ratio(weighted(|bin| bin.mean), shard.total_rows),
        recalled: ratio(weighted(|bin| bin.observed), sums[3 * BINS]),
        bins,
    }
}
