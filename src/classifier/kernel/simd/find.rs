//! Scores that reach a threshold: their positions and their number.

use super::Simd;
use crate::classifier::kernel::{GROUP, THRESHOLDS};

/// The number of scores that reach each threshold.
#[inline(always)]
pub fn count<S: Simd>(simd: S, scores: &[f32], thresholds: [f32; THRESHOLDS]) -> [usize; THRESHOLDS] {
    let mut counts = [simd.splat_int(0); THRESHOLDS];
    for group in scores.chunks_exact(S::LANES) {
        // SAFETY: a group is a vector.
        let group = unsafe { simd.load(group.as_ptr()) };
        for (counts, &threshold) in counts.iter_mut().zip(&thresholds) {
            *counts = simd.count_in(*counts, simd.at_least(group, simd.splat(threshold)));
        }
    }
    let mut totals = [0; THRESHOLDS];
    for (total, &counts) in totals.iter_mut().zip(&counts) {
        let mut lanes = [0; GROUP];
        // SAFETY: there is space for the longest vector.
        unsafe { simd.store_ints(lanes.as_mut_ptr(), counts) };
        *total = lanes.iter().sum::<u32>() as usize;
    }
    totals
}

/// Writes the positions of scores that reach a threshold, without a branch: a whole vector is written for each group, and the
/// next one starts behind what was found. Returns their number.
///
/// # Panics
/// Unless `positions` is longer than `scores` by a vector.
#[inline(always)]
pub fn find<S: Simd>(simd: S, scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
    assert!(positions.len() >= scores.len() + S::LANES, "space for the positions");
    let (threshold, out) = (simd.splat(threshold), positions.as_mut_ptr());
    let mut numbers = simd.lane_numbers();
    let mut found = 0;
    for group in scores.chunks_exact(S::LANES) {
        // SAFETY: a group is a vector. No more was found than there were scores, so another vector fits behind it.
        unsafe {
            let reached = simd.at_least(simd.load(group.as_ptr()), threshold);
            simd.store_ints(out.add(found), simd.compress(reached, numbers));
            found += simd.bits(reached).count_ones() as usize;
        }
        numbers = simd.add(numbers, simd.splat_int(S::LANES as u32));
    }
    found
}
