//! Calibration of marginals: their agreement with observed frequencies.

use crate::calibration::MarginalHistogram;
use crate::shard::{FixedPoint, Position, Shard, Targets};
use crate::world::World;

/// Stored marginals within a range of values.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ReliabilityBin {
    pub low: f64,
    pub high: f64,
    pub entries: u64,
    pub mean: f64,
    /// Share of these entries whose label is a true label.
    pub observed: f64,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CalibrationReport {
    /// Expected calibration error over the stored marginals, ten bins of equal width.
    pub error: f64,
    /// The error with twenty bins of equally many marginals, most of which are small.
    pub error_equal_mass: f64,
    /// Absolute difference between expected and observed positives in the bins of the curve, as a share of the positives.
    /// Relative errors of small marginals count fully.
    pub error_relative: f64,
    /// Mean over rows of the sum of a row's marginals.
    pub mean_sum: f64,
    /// Share of the positives that have a stored marginal.
    pub recalled: f64,
    /// Ten bins of equal width.
    pub bins: Vec<ReliabilityBin>,
    /// The reliability curve: narrow bins for small marginals.
    pub curve: Vec<ReliabilityBin>,
}

const BINS: usize = 10;

/// Lower ends of the curve's bins, then 1.
const CURVE_EDGES: [f64; 21] = [
    0.0, 1e-6, 1e-5, 1e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8,
    0.9, 1.0,
];

/// One thread's sums.
struct ReliabilitySums {
    /// Sums of entries, marginals and positives in the bins of equal width, then in those of the curve.
    bins: Vec<[u64; 3]>,
    positives: u64,
    histogram: MarginalHistogram,
}

impl ReliabilitySums {
    fn new() -> ReliabilitySums {
        let bins = vec![[0; 3]; BINS + CURVE_EDGES.len() - 1];
        ReliabilitySums { bins, positives: 0, histogram: MarginalHistogram::default() }
    }

    fn add(&mut self, value: f32, positive: bool, fixed: FixedPoint) {
        let wide = f64::from(value);
        let equal = ((wide * BINS as f64) as usize).min(BINS - 1);
        let curve = CURVE_EDGES[1..CURVE_EDGES.len() - 1].partition_point(|&start| start <= wide);
        let part = [1, fixed.encode_f32(value), u64::from(positive)];
        for bin in [equal, BINS + curve] {
            self.bins[bin].iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        self.histogram.add(value, positive);
    }

    fn merge(mut self, other: ReliabilitySums) -> ReliabilitySums {
        for (bin, other) in self.bins.iter_mut().zip(&other.bins) {
            bin.iter_mut().zip(other).for_each(|(sum, part)| *sum += part);
        }
        self.positives += other.positives;
        self.histogram.merge(&other.histogram);
        self
    }

    /// Sums over ranks. Collective.
    fn sum(&mut self, world: &World) {
        let mut numbers: Vec<u64> = self.bins.iter().flatten().copied().chain([self.positives]).collect();
        world.sum(&mut numbers, u64::MAX);
        self.bins.iter_mut().zip(numbers.chunks(3)).for_each(|(bin, sums)| bin.copy_from_slice(sums));
        self.positives = numbers[numbers.len() - 1];
        self.histogram.sum(world);
    }
}

fn ratio(above: f64, below: u64) -> f64 {
    if below == 0 { 0.0 } else { above / below as f64 }
}

/// Compares stored marginals with true labels. Collective.
pub fn measure_calibration(world: &World, shard: &Shard) -> CalibrationReport {
    let entries = world.gather_to_all(shard.marginals.entries() as u64).iter().sum();
    let fixed = FixedPoint::for_terms(entries);
    let blocks = shard.marginals.blocks();
    let parts = blocks.fold(ReliabilitySums::new, |sums, block| {
        for local in blocks.rows(block) {
            sums.positives += shard.true_labels(local).len() as u64;
            let row = shard.marginals.row(local);
            for (position, &value) in (0..).map(Position).zip(row.values()) {
                let positive = match &shard.targets {
                    Targets::Labels(true_labels) => true_labels.hits().get(row.entry(position)) == 1,
                    Targets::Expected(_) => false,
                };
                sums.add(value, positive, fixed);
            }
        }
    });
    let mut sums = parts.into_iter().fold(ReliabilitySums::new(), ReliabilitySums::merge);
    sums.sum(world);
    let bin = |(low, high, [entries, sum, positives]): (f64, f64, [u64; 3])| ReliabilityBin {
        low,
        high,
        entries,
        mean: ratio(fixed.decode(sum), entries),
        observed: ratio(positives as f64, entries),
    };
    let (equal, curve) = sums.bins.split_at(BINS);
    let width = |at: usize| at as f64 / BINS as f64;
    let bins: Vec<ReliabilityBin> = (0..BINS).map(|at| bin((width(at), width(at + 1), equal[at]))).collect();
    let curve: Vec<ReliabilityBin> =
        CURVE_EDGES.windows(2).zip(curve).map(|(ends, &sums)| bin((ends[0], ends[1], sums))).collect();
    let weighted = |bins: &[ReliabilityBin], value: fn(&ReliabilityBin) -> f64| -> f64 {
        bins.iter().map(|bin| bin.entries as f64 * value(bin)).sum()
    };
    let off = |bin: &ReliabilityBin| (bin.mean - bin.observed).abs();
    let stored = weighted(&bins, |bin| bin.observed);
    CalibrationReport {
        error: ratio(weighted(&bins, off), entries),
        error_equal_mass: equal_mass(&sums.histogram, entries),
        error_relative: if stored > 0.0 { weighted(&curve, off) / stored } else { 0.0 },
        mean_sum: ratio(weighted(&bins, |bin| bin.mean), shard.total_rows),
        recalled: ratio(stored, sums.positives),
        bins,
        curve,
    }
}

/// Returns the expected calibration error with bins of about equally many marginals; equal marginals share a bin.
fn equal_mass(histogram: &MarginalHistogram, entries: u64) -> f64 {
    const PARTS: u64 = 20;
    let (mut error, mut before) = (0.0, 0);
    let (mut sum, mut positives) = (0.0, 0);
    for point in histogram.points() {
        sum += point.mean * point.entries as f64;
        positives += point.positives;
        let part = |entries_before: u64| u128::from(entries_before) * u128::from(PARTS) / u128::from(entries);
        let after = before + point.entries;
        if part(after) > part(before) {
            error += f64::abs(sum - positives as f64);
            (sum, positives) = (0.0, 0);
        }
        before = after;
    }
    ratio(error, entries)
}
