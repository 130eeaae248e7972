//! How many marginals there are of each size, and how many of them are of true labels.

use crate::world::World;

/// Counts of marginals by value, in bins so narrow (a 1024th of a power of two) that nothing is lost by them. All
/// numbers are integers, and the mean of a bin is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// For each bin: entries, the sum of what they are above the beginning of the bin, positives.
    bins: Vec<[u64; 3]>,
}

/// The marginals of one bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub mean: f64,
    pub entries: u64,
    pub positives: u64,
}

/// Bits of a single that say how far it is above the beginning of its bin.
const LOW: u32 = 13;

/// Smaller ones, and zeros, are in the first bin.
const SMALLEST: f32 = 1.0 / (1u64 << 40) as f32;

fn code(value: f32) -> u32 {
    value.to_bits() >> LOW
}

impl Default for Histogram {
    fn default() -> Histogram {
        let bins = code(1.0) - code(SMALLEST) + 2;
        Histogram { bins: vec![[0; 3]; bins as usize] }
    }
}

impl Histogram {
    /// Counts a marginal in [0, 1].
    #[inline]
    pub fn add(&mut self, value: f32, positive: bool) {
        let small = value < SMALLEST;
        let bin = if small { 0 } else { code(value) - code(SMALLEST) + 1 };
        let above = if small { 0 } else { value.to_bits() & ((1 << LOW) - 1) };
        let [entries, sum, positives] = &mut self.bins[bin as usize];
        *entries += 1;
        *sum += u64::from(above);
        *positives += u64::from(positive);
    }

    /// Counts what another has counted.
    pub fn merge(&mut self, other: &Histogram) {
        for (bin, other) in self.bins.iter_mut().zip(&other.bins) {
            bin.iter_mut().zip(other).for_each(|(sum, part)| *sum += part);
        }
    }

    /// Adds up what all ranks have counted; every rank gets it. Collective.
    pub fn sum(&mut self, world: &World) {
        let mut numbers: Vec<u64> = self.bins.iter().flatten().copied().collect();
        world.sum(&mut numbers, u64::MAX);
        for (bin, sums) in self.bins.iter_mut().zip(numbers.chunks(3)) {
            bin.copy_from_slice(sums);
        }
    }

    /// The bins that are not empty, by ascending value.
    pub fn points(&self) -> Vec<Point> {
        let point = |(bin, &[entries, sum, positives]): (usize, &[u64; 3])| {
            let mean = match bin {
                0 => 0.0,
                _ => {
                    let low = f32::from_bits((code(SMALLEST) + bin as u32 - 1) << LOW);
                    // The distance of two neighbouring singles there.
                    let unit = f64::from(low.next_up()) - f64::from(low);
                    f64::from(low) + unit * (sum as f64 / entries as f64)
                }
            };
            Point { mean, entries, positives }
        };
        self.bins.iter().enumerate().filter(|(_, bin)| bin[0] > 0).map(point).collect()
    }
}
