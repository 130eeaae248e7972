//! The k-th largest single score of a row.

use super::kernel::{Kernel, RowScratch, THRESHOLDS};

/// Maps single scores to integers such that neighbouring numbers differ by 1. Both zeros are 0.
pub(super) fn ordinal(score: f32) -> i64 {
    let bits = score.to_bits();
    let size = i64::from(bits & i32::MAX as u32);
    if bits >> 31 == 1 { -size } else { size }
}

/// Returns the single score of an ordinal; infinity beyond the ends.
pub(super) fn from_ordinal(ordinal: i64) -> f32 {
    let size = f32::from_bits(ordinal.unsigned_abs().min(f32::INFINITY.to_bits().into()) as u32);
    if ordinal < 0 { -size } else { size }
}

/// Single scores whose ordinals differ by this much are in the order of the exact scores. One is not enough: two exact
/// scores on both sides of the middle between two singles may be the same number in double precision.
pub(super) const DECISIVE_DISTANCE: i64 = 2;

/// The largest k of [`kth_largest_small_k`].
pub(super) const MAX_SMALL_K: usize = 8;

/// Returns the k-th largest of some numbers, for k up to [`MAX_SMALL_K`].
pub(super) fn kth_largest_small_k(numbers: impl Iterator<Item = i64>, k: usize) -> i64 {
    match k {
        1 => kth_by_insertion::<1>(numbers),
        2 => kth_by_insertion::<2>(numbers),
        3 => kth_by_insertion::<3>(numbers),
        4 => kth_by_insertion::<4>(numbers),
        5 => kth_by_insertion::<5>(numbers),
        6 => kth_by_insertion::<6>(numbers),
        7 => kth_by_insertion::<7>(numbers),
        _ => kth_by_insertion::<MAX_SMALL_K>(numbers),
    }
}

fn kth_by_insertion<const K: usize>(numbers: impl Iterator<Item = i64>) -> i64 {
    let mut best = [i64::MIN; K];
    for number in numbers {
        // Without a branch, which would be mispredicted.
        let mut sinking = number;
        for place in &mut best {
            (*place, sinking) = ((*place).max(sinking), (*place).min(sinking));
        }
    }
    best[K - 1]
}

/// Finds the k-th largest score of a row by counting how many scores reach a few guesses at a time, which is fast and has no
/// branches. The result of the last row is the first guess for the next.
#[derive(Default)]
pub(super) struct KthScoreFinder {
    last: i64,
}

/// Distances of the first guesses from the result of the last row: factors of 2 and 16.
const GUESS_DISTANCES: [i64; 2] = [1 << 23, 1 << 25];

impl KthScoreFinder {
    /// Returns the ordinal of the k-th largest of `length` scores, or one that separates the best k: all others are
    /// at least [`DECISIVE_DISTANCE`] below it. At least `k` scores reach `low`.
    pub(super) fn find(
        &mut self,
        kernel: Kernel,
        space: &RowScratch,
        length: usize,
        k: usize,
        mut low: i64,
    ) -> i64 {
        // At least k scores reach `low`, fewer than k reach `high`.
        let mut high = ordinal(f32::INFINITY) + 1;
        let mut guesses = [-GUESS_DISTANCES[1], -GUESS_DISTANCES[0], GUESS_DISTANCES[0], GUESS_DISTANCES[1]]
            .map(|far| self.last + far);
        while high - low > 1 {
            // `high` may be beyond infinity.
            guesses = guesses.map(|guess| guess.clamp(low, high - 1));
            let reached = kernel.count(space, length, guesses.map(from_ordinal));
            for (guess, reached) in guesses.into_iter().zip(reached) {
                // In a gap between scores, where exact scores cannot differ in order.
                let in_gap = || {
                    kernel.count(space, length, [from_ordinal(guess - DECISIVE_DISTANCE); THRESHOLDS])[0] == k
                };
                if reached == k && in_gap() {
                    self.last = guess;
                    return guess + 1;
                }
                if reached >= k {
                    low = low.max(guess);
                } else {
                    high = high.min(guess);
                }
            }
            let part =
                |number: i64| low + ((high - low) * number + THRESHOLDS as i64) / (THRESHOLDS as i64 + 1);
            guesses = [part(1), part(2), part(3), part(4)];
        }
        self.last = low;
        low
    }
}
