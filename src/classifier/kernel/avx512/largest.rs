//! The largest of up to 32 numbers, in registers: how many others are larger is the place of each.

use std::arch::x86_64::*;

use crate::classifier::kernel::{LANES, MAX_BOUNDED_K};

/// The k-th largest of some numbers.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn kth_largest<const REGISTERS: usize>(k: usize, numbers: [__m512; REGISTERS]) -> f32 {
    largest_of(k, numbers).1
}

/// Writes what `names` has for those `k` of sixteen numbers that are the largest. Returns the smallest of those, or nothing where
/// another is too close.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn pick_largest(
    numbers: __m512,
    names: __m512i,
    k: usize,
    best: &mut [u32; MAX_BOUNDED_K],
) -> Option<f32> {
    let ([among], least) = largest_of(k, [numbers]);
    let near = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(numbers, _mm512_set1_ps(least.next_down()));
    // Where there are fewer, the last ones are anything.
    // SAFETY: there is room for sixteen.
    unsafe { _mm512_storeu_si512(best.as_mut_ptr().cast(), _mm512_maskz_compress_epi32(among, names)) };
    (near == among && among.count_ones() as usize == k).then_some(least)
}

const _: () = assert!(MAX_BOUNDED_K >= LANES, "room for sixteen");

/// Which of some numbers have fewer than k above them, and the smallest of those.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
fn largest_of<const REGISTERS: usize>(k: usize, numbers: [__m512; REGISTERS]) -> ([u16; REGISTERS], f32) {
    let mut each = [[0.0f32; LANES]; REGISTERS];
    for (each, &numbers) in each.iter_mut().zip(&numbers) {
        // SAFETY: sixteen numbers of 32 bits.
        unsafe { _mm512_storeu_ps(each.as_mut_ptr(), numbers) };
    }
    // How many are larger than each one.
    let mut above = [_mm512_setzero_si512(); REGISTERS];
    for &number in each.as_flattened() {
        let number = _mm512_set1_ps(number);
        for (above, &numbers) in above.iter_mut().zip(&numbers) {
            let larger = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(number, numbers);
            *above = _mm512_mask_add_epi32(*above, larger, *above, _mm512_set1_epi32(1));
        }
    }
    let limit = _mm512_set1_epi32(k as i32);
    let among = above.map(|above| _mm512_cmplt_epi32_mask(above, limit));
    let mut sixteen = _mm512_set1_ps(f32::INFINITY);
    for (&among, &numbers) in among.iter().zip(&numbers) {
        sixteen = _mm512_mask_min_ps(sixteen, among, sixteen, numbers);
    }
    (among, _mm512_reduce_min_ps(sixteen))
}
