//! The k-th largest single score of a row.

use super::kernel::{Kernel, PROBES, Space};

/// Single scores as integers, so that neighbouring numbers differ by 1. Both zeros are 0.
pub(super) fn step(score: f32) -> i64 {
    let bits = score.to_bits();
    let size = i64::from(bits & i32::MAX as u32);
    if bits >> 31 == 1 { -size } else { size }
}

/// The single score of a step; beyond the ends, infinity.
pub(super) fn from_step(step: i64) -> f32 {
    let size = f32::from_bits(step.unsigned_abs().min(f32::INFINITY.to_bits().into()) as u32);
    if step < 0 { -size } else { size }
}

/// Single scores this many steps apart are in the same order exactly. One step is not enough: two exact
/// scores on both sides of the middle between two singles may be the same number in double precision.
pub(super) const APART: i64 = 2;

/// The most that [`nth_of_few`] can look for.
pub(super) const FEW: usize = 8;

/// The k-th largest of some numbers, k at most [`FEW`].
pub(super) fn nth_of_few(numbers: impl Iterator<Item = i64>, k: usize) -> i64 {
    match k {
        1 => sink::<1>(numbers),
        2 => sink::<2>(numbers),
        3 => sink::<3>(numbers),
        4 => sink::<4>(numbers),
        5 => sink::<5>(numbers),
        6 => sink::<6>(numbers),
        7 => sink::<7>(numbers),
        _ => sink::<FEW>(numbers),
    }
}

fn sink<const K: usize>(numbers: impl Iterator<Item = i64>) -> i64 {
    let mut best = [i64::MIN; K];
    for number in numbers {
        // Each sinks to its place without a branch: where that is cannot be predicted.
        let mut sinking = number;
        for place in &mut best {
            (*place, sinking) = ((*place).max(sinking), (*place).min(sinking));
        }
    }
    best[K - 1]
}

/// Searches the k-th largest score of a row by counting how many reach a few guesses at a time: counting
/// is fast and has no branches. Remembers where it was in the last row, a good first guess for the next.
#[derive(Default)]
pub(super) struct Threshold {
    last: i64,
}

/// How far around the last row's threshold the next one is looked for first: a factor of 2, and of 16.
const NEAR: [i64; 2] = [1 << 23, 1 << 25];

impl Threshold {
    /// The step of the k-th largest of `length` scores; or, where the next one is far from it, one that all
    /// but the best k are [`APART`] below, and the best k not. At least `k` reach `low`.
    pub(super) fn search(&mut self, kernel: Kernel, space: &Space, length: usize, k: usize, low: i64) -> i64 {
        // At least k reach `low`, fewer than k reach `high`.
        let (mut low, mut high) = (low, step(f32::INFINITY) + 1);
        let mut guesses = [-NEAR[1], -NEAR[0], NEAR[0], NEAR[1]].map(|far| self.last + far);
        while high - low > 1 {
            // Below `high`, which may be beyond infinity.
            guesses = guesses.map(|guess| guess.clamp(low, high - 1));
            let reached = kernel.count(space, length, guesses.map(from_step));
            for (guess, reached) in guesses.into_iter().zip(reached) {
                // In a gap of the scores, where exact ones cannot choose others.
                let in_gap = || kernel.count(space, length, [from_step(guess - APART); PROBES])[0] == k;
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
            let part = |number: i64| low + ((high - low) * number + PROBES as i64) / (PROBES as i64 + 1);
            guesses = [part(1), part(2), part(3), part(4)];
        }
        self.last = low;
        low
    }
}
