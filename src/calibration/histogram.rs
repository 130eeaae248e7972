//! Histogram of marginals, and of those that belong to true labels.

use crate::world::World;

/// Counts of marginals by value, in bins so narrow (a 1024th of a power of two) that calibration loses nothing. All
/// counts are integers, and the mean of a bin is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarginalHistogram {
    /// For each bin: entries, the sum of their low bits, positives.
    bins: Vec<[u64; 3]>,
}

/// A bin that is not empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistogramPoint {
    pub mean: f64,
    pub entries: u64,
    pub positives: u64,
}

/// Low bits of an `f32`, which are its distance from the start of its bin.
const LOW_BITS: u32 = 13;

/// Smaller values, including 0, are in the first bin.
const SMALLEST: f32 = 1.0 / (1u64 << 40) as f32;

fn bin_code(value: f32) -> u32 {
    value.to_bits() >> LOW_BITS
}

impl Default for MarginalHistogram {
    fn default() -> MarginalHistogram {
        let bins = bin_code(1.0) - bin_code(SMALLEST) + 2;
        MarginalHistogram { bins: vec![[0; 3]; bins as usize] }
    }
}

impl MarginalHistogram {
    /// Counts a marginal in [0, 1].
    #[inline]
    pub fn add(&mut self, value: f32, positive: bool) {
        let small = value < SMALLEST;
        let bin = if small { 0 } else { bin_code(value) - bin_code(SMALLEST) + 1 };
        let above = if small { 0 } else { value.to_bits() & ((1 << LOW_BITS) - 1) };
        let [entries, sum, positives] = &mut self.bins[bin as usize];
        *entries += 1;
        *sum += u64::from(above);
        *positives += u64::from(positive);
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &MarginalHistogram) {
        for (bin, other) in self.bins.iter_mut().zip(&other.bins) {
            bin.iter_mut().zip(other).for_each(|(sum, part)| *sum += part);
        }
    }

    /// Sums up the counts of all ranks, on every rank. Collective.
    pub fn sum(&mut self, world: &World) {
        let mut numbers: Vec<u64> = self.bins.iter().flatten().copied().collect();
        world.sum(&mut numbers, u64::MAX);
        for (bin, sums) in self.bins.iter_mut().zip(numbers.chunks(3)) {
            bin.copy_from_slice(sums);
        }
    }

    /// Returns the numbers of entries and of positives.
    pub fn totals(&self) -> (u64, u64) {
        self.bins.iter().fold((0, 0), |(entries, positives), bin| (entries + bin[0], positives + bin[2]))
    }

    /// Returns the bins that are not empty, in ascending order.
    pub fn points(&self) -> Vec<HistogramPoint> {
        let point = |(bin, &[entries, sum, positives]): (usize, &[u64; 3])| {
            let mean = match bin {
                0 => 0.0,
                _ => {
                    let low = f32::from_bits((bin_code(SMALLEST) + bin as u32 - 1) << LOW_BITS);
                    let unit = f64::from(low.next_up()) - f64::from(low);
                    f64::from(low) + unit * (sum as f64 / entries as f64)
                }
            };
            HistogramPoint { mean, entries, positives }
        };
        self.bins.iter().enumerate().filter(|(_, bin)| bin[0] > 0).map(point).collect()
    }
}
