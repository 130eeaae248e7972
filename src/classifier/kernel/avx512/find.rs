//! Which of many reach a threshold, and how many do.

use std::arch::x86_64::*;

use crate::classifier::kernel::{LANES, THRESHOLDS};

/// The numbers from 0 to 15.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn lane_numbers() -> __m512i {
    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
pub(super) unsafe fn count(scores: &[f32], thresholds: [f32; THRESHOLDS]) -> [usize; THRESHOLDS] {
    let least = thresholds.map(|threshold| _mm512_set1_ps(threshold));
    let mut totals = [0; THRESHOLDS];
    for group in scores.chunks_exact(LANES) {
        // SAFETY: a group is sixteen scores.
        let group = unsafe { _mm512_loadu_ps(group.as_ptr()) };
        for (total, &least) in totals.iter_mut().zip(&least) {
            *total += _mm512_cmp_ps_mask::<_CMP_GE_OQ>(group, least).count_ones() as usize;
        }
    }
    totals
}

/// Without a branch: sixteen positions are written, and as many kept as were found.
///
/// # Panics
/// Unless there is room for sixteen positions more than scores.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn find(scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
    let least = _mm512_set1_ps(threshold);
    assert!(positions.len() >= scores.len() + LANES, "space for the positions");
    let out = positions.as_mut_ptr();
    let mut places = lane_numbers();
    let mut found = 0;
    for group in scores.chunks_exact(LANES) {
        // SAFETY: a group is sixteen scores; no more are found than were looked at, so sixteen fit.
        unsafe {
            let mask = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(_mm512_loadu_ps(group.as_ptr()), least);
            // Packed in a register and stored whole: the packing store is slow on some processors.
            _mm512_storeu_si512(out.add(found).cast(), _mm512_maskz_compress_epi32(mask, places));
            found += mask.count_ones() as usize;
        }
        places = _mm512_add_epi32(places, _mm512_set1_epi32(LANES as i32));
    }
    found
}

/// How many there are, and the positions of the first sixteen, which stay in a register: what was written piece by piece could
/// not be read again at once. Behind those that were found, 0.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn find_first(scores: &[f32], threshold: f32) -> (usize, __m512i) {
    let least = _mm512_set1_ps(threshold);
    let mut places = lane_numbers();
    let (mut found, mut first) = (0u32, _mm512_setzero_si512());
    for group in scores.chunks_exact(LANES) {
        // SAFETY: a group is sixteen scores.
        let mask = unsafe { _mm512_cmp_ps_mask::<_CMP_GE_OQ>(_mm512_loadu_ps(group.as_ptr()), least) };
        let free = (u64::from(u16::MAX) << found.min(LANES as u32)) as u16;
        first = _mm512_mask_expand_epi32(first, free, _mm512_maskz_compress_epi32(mask, places));
        found += mask.count_ones();
        places = _mm512_add_epi32(places, _mm512_set1_epi32(LANES as i32));
    }
    (found as usize, first)
}
