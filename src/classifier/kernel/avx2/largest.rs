//! The largest of up to 32 numbers, in registers: how many others are larger is the place of each.

use std::arch::x86_64::*;

use crate::classifier::kernel::MAX_BOUNDED_K;

/// See [`Avx2::pick_top_k`](super::Avx2::pick_top_k).
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
pub(super) fn pick_top_k(
    scores: &[f32],
    positions: &[u32],
    found: usize,
    k: usize,
    best: &mut [u32; MAX_BOUNDED_K],
) -> Option<f32> {
    match found {
        0..=8 => pick_top_k_with::<1>(scores, positions, found, k, best),
        9..=16 => pick_top_k_with::<2>(scores, positions, found, k, best),
        _ => pick_top_k_with::<4>(scores, positions, found, k, best),
    }
}

/// With up to eight scores for each register.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn pick_top_k_with<const REGISTERS: usize>(
    scores: &[f32],
    positions: &[u32],
    found: usize,
    k: usize,
    best: &mut [u32; MAX_BOUNDED_K],
) -> Option<f32> {
    let positions = &positions[..8 * REGISTERS];
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let numbers: [__m256; REGISTERS] = std::array::from_fn(|register| {
        // One after the other: they were written by overlapping stores, from which no vector can be read before all of
        // those are done.
        let score = |lane: usize| scores[positions[8 * register + lane] as usize];
        let [a, b, c, d, e, f, g, h] = std::array::from_fn(score);
        let count = _mm256_set1_epi32(found as i32 - 8 * register as i32);
        let inside = _mm256_castsi256_ps(_mm256_cmpgt_epi32(count, lanes));
        let eight = _mm256_setr_ps(a, b, c, d, e, f, g, h);
        _mm256_blendv_ps(_mm256_set1_ps(f32::NEG_INFINITY), eight, inside)
    });
    pick_largest(numbers, positions, k, best)
}

/// Writes what `names` has for those `k` of some numbers that are the largest. Returns the smallest of those, or nothing where
/// another is too close.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
pub(super) fn pick_largest<const REGISTERS: usize>(
    numbers: [__m256; REGISTERS],
    names: &[u32],
    k: usize,
    best: &mut [u32; MAX_BOUNDED_K],
) -> Option<f32> {
    let names = &names[..8 * REGISTERS];
    let (among, least) = largest_of(k, numbers);
    let near = _mm256_set1_ps(least.next_down());
    let near = mask(numbers.map(|numbers| _mm256_cmp_ps::<_CMP_GE_OQ>(numbers, near)));
    let among = mask(among);
    let mut left = among;
    for best in &mut best[..k] {
        // Where there are fewer, the last ones are anything.
        *best = names[left.trailing_zeros() as usize % names.len()];
        left &= left.wrapping_sub(1);
    }
    (near == among && among.count_ones() as usize == k).then_some(least)
}

/// The signs of all lanes.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn mask<const REGISTERS: usize>(registers: [__m256; REGISTERS]) -> u32 {
    let lanes = |mask: u32, (number, &register)| mask | (_mm256_movemask_ps(register) as u32) << (8 * number);
    registers.iter().enumerate().fold(0, lanes)
}

/// The k-th largest of some numbers.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
pub(super) fn kth_largest<const REGISTERS: usize>(k: usize, numbers: [__m256; REGISTERS]) -> f32 {
    largest_of(k, numbers).1
}

/// Which of some numbers have fewer than k above them, and the smallest of those.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn largest_of<const REGISTERS: usize>(k: usize, numbers: [__m256; REGISTERS]) -> ([__m256; REGISTERS], f32) {
    let mut each = [[0.0f32; 8]; REGISTERS];
    for (each, &numbers) in each.iter_mut().zip(&numbers) {
        // SAFETY: eight numbers of 32 bits.
        unsafe { _mm256_storeu_ps(each.as_mut_ptr(), numbers) };
    }
    // How many are larger than each one; a comparison that holds is -1.
    let mut above = [_mm256_setzero_si256(); REGISTERS];
    for &number in each.as_flattened() {
        let number = _mm256_set1_ps(number);
        for (above, &numbers) in above.iter_mut().zip(&numbers) {
            let larger = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GT_OQ>(number, numbers));
            *above = _mm256_sub_epi32(*above, larger);
        }
    }
    let limit = _mm256_set1_epi32(k as i32);
    let among = above.map(|above| _mm256_castsi256_ps(_mm256_cmpgt_epi32(limit, above)));
    let mut eight = _mm256_set1_ps(f32::INFINITY);
    for (&among, &numbers) in among.iter().zip(&numbers) {
        eight = _mm256_min_ps(eight, _mm256_blendv_ps(_mm256_set1_ps(f32::INFINITY), numbers, among));
    }
    let four = _mm_min_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
    let two = _mm_min_ps(four, _mm_movehl_ps(four, four));
    (among, _mm_cvtss_f32(_mm_min_ss(two, _mm_shuffle_ps::<1>(two, two))))
}
