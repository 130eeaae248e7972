//! The largest of up to 32 numbers in registers. The rank of each is the number of others that are larger.

use super::{Avx2, Simd};
use crate::classifier::kernel::{GROUP, MAX_BOUNDED_K, Maxima, maxima_count};

/// The k-th largest of the maxima that scoring left, or minus infinity if there are fewer.
#[inline(always)]
pub fn kth_of_maxima<S: Simd>(simd: S, maxima: &Maxima, k: usize) -> f32 {
    match maxima_count(k) / S::LANES {
        _ if k > maxima.len() => f32::NEG_INFINITY,
        1 => largest_of::<S, 1>(simd, k, load(simd, maxima)).1,
        2 => largest_of::<S, 2>(simd, k, load(simd, maxima)).1,
        _ => largest_of::<S, 4>(simd, k, load(simd, maxima)).1,
    }
}

#[inline(always)]
fn load<S: Simd, const REGISTERS: usize>(simd: S, maxima: &Maxima) -> [S::Floats; REGISTERS] {
    let mut registers = [simd.splat(f32::NEG_INFINITY); REGISTERS];
    for (register, maxima) in registers.iter_mut().zip(maxima.chunks_exact(S::LANES)) {
        // SAFETY: a chunk is a vector.
        *register = unsafe { simd.load(maxima.as_ptr()) };
    }
    registers
}

/// Picks the best of the scores at the first `found` positions, as [`Operations::pick_top_k`](super::Operations) says.
#[inline(always)]
pub fn pick_top_k(
    simd: Avx2,
    scores: &[f32],
    positions: &[u32],
    found: usize,
    k: usize,
    best: &mut [u32; MAX_BOUNDED_K],
) -> Option<f32> {
    match found {
        0..=8 => pick_top_k_with::<1>(simd, scores, positions, found, k, best),
        9..=16 => pick_top_k_with::<2>(simd, scores, positions, found, k, best),
        _ => pick_top_k_with::<4>(simd, scores, positions, found, k, best),
    }
}

#[inline(always)]
fn pick_top_k_with<const REGISTERS: usize>(
    simd: Avx2,
    scores: &[f32],
    positions: &[u32],
    found: usize,
    k: usize,
    best: &mut [u32; MAX_BOUNDED_K],
) -> Option<f32> {
    let positions = &positions[..Avx2::LANES * REGISTERS];
    let nothing = simd.splat(f32::NEG_INFINITY);
    let mut numbers = [nothing; REGISTERS];
    for (number, numbers) in numbers.iter_mut().enumerate() {
        let from = number * Avx2::LANES;
        // One by one: positions were written by overlapping stores, and a vector of them could only be read once all of those are
        // done.
        let eight = std::array::from_fn(|lane| scores[positions[from + lane] as usize]);
        *numbers = simd.select(simd.first_lanes(found.saturating_sub(from)), simd.pack(eight), nothing);
    }
    pick_largest(simd, numbers, positions, k, best)
}

/// Writes the elements of `names` that belong to the `k` largest numbers. Returns the smallest of those numbers, or none if
/// another is too close to it.
#[inline(always)]
pub fn pick_largest<S: Simd, const REGISTERS: usize>(
    simd: S,
    numbers: [S::Floats; REGISTERS],
    names: &[u32],
    k: usize,
    best: &mut [u32; MAX_BOUNDED_K],
) -> Option<f32> {
    let names = &names[..S::LANES * REGISTERS];
    let (masks, least) = largest_of(simd, k, numbers);
    let next = simd.splat(least.next_down());
    let (mut among, mut near) = (0, 0);
    for (register, (&mask, &numbers)) in masks.iter().zip(&numbers).enumerate() {
        among |= simd.bits(mask) << (register * S::LANES);
        near |= simd.bits(simd.at_least(numbers, next)) << (register * S::LANES);
    }
    // With fewer than k, the last ones can be anything.
    if S::GATHERS && REGISTERS == 1 {
        // Saves 2% of a pass. Not for positions, which were written in pieces: see `pick_top_k`.
        // SAFETY: there are a vector of names and space for one.
        unsafe {
            simd.store_ints(best.as_mut_ptr(), simd.compress(masks[0], simd.load_ints(names.as_ptr())))
        };
    } else {
        let mut left = among;
        for best in &mut best[..k] {
            *best = names[left.trailing_zeros() as usize % names.len()];
            left &= left.wrapping_sub(1);
        }
    }
    (near == among && among.count_ones() as usize == k).then_some(least)
}

/// The numbers with fewer than `k` larger ones, and the smallest of them.
#[inline(always)]
fn largest_of<S: Simd, const REGISTERS: usize>(
    simd: S,
    k: usize,
    numbers: [S::Floats; REGISTERS],
) -> ([S::Mask; REGISTERS], f32) {
    let mut each: Maxima = [0.0; _];
    for (each, &numbers) in each.chunks_exact_mut(S::LANES).zip(&numbers) {
        // SAFETY: a chunk is a vector.
        unsafe { simd.store(each.as_mut_ptr(), numbers) };
    }
    let mut larger = [simd.splat_int(0); REGISTERS];
    for &number in &each[..S::LANES * REGISTERS] {
        let number = simd.splat(number);
        for (larger, &numbers) in larger.iter_mut().zip(&numbers) {
            *larger = simd.count_in(*larger, simd.greater(number, numbers));
        }
    }
    let (mut among, mut smallest) = ([simd.first_lanes(0); REGISTERS], simd.splat(f32::INFINITY));
    for ((mask, &larger), &numbers) in among.iter_mut().zip(&larger).zip(&numbers) {
        *mask = simd.less(larger, simd.splat_int(k as u32));
        smallest = simd.min(smallest, simd.select(*mask, numbers, simd.splat(f32::INFINITY)));
    }
    (among, simd.smallest(smallest))
}

const _: () = assert!(MAX_BOUNDED_K >= GROUP, "there is space for a vector");
