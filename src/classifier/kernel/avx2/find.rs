//! Which of many reach a threshold, and how many do.

use std::arch::x86_64::*;

use crate::classifier::kernel::THRESHOLDS;

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx2,fma,popcnt")]
pub(super) unsafe fn count(scores: &[f32], thresholds: [f32; THRESHOLDS]) -> [usize; THRESHOLDS] {
    let least = thresholds.map(|threshold| _mm256_set1_ps(threshold));
    let mut totals = [_mm256_setzero_si256(); THRESHOLDS];
    for group in scores.chunks_exact(8) {
        // SAFETY: a group is eight scores.
        let group = unsafe { _mm256_loadu_ps(group.as_ptr()) };
        for (total, &least) in totals.iter_mut().zip(&least) {
            // A comparison that holds is -1.
            *total = _mm256_sub_epi32(*total, _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GE_OQ>(group, least)));
        }
    }
    totals.map(|total| {
        let mut lanes = [0u32; 8];
        // SAFETY: eight lanes of 32 bits.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), total) };
        lanes.iter().sum::<u32>() as usize
    })
}

/// All of them are looked at, without a branch: the compiler makes vectors of that.
#[target_feature(enable = "avx2,fma,popcnt")]
pub(super) fn contains(codes: &[u16], code: u16) -> bool {
    codes.iter().fold(false, |found, &other| found | (other == code))
}

/// The set bits of every byte, lowest first.
static BITS: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut at) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][at] = bit;
                at += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Without a branch: eight positions are written, and as many kept as were found.
///
/// # Panics
/// Unless there is room for eight positions more than scores.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
pub(super) fn find(scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
    let least = _mm256_set1_ps(threshold);
    assert!(positions.len() >= scores.len() + 8, "space for the positions");
    let out = positions.as_mut_ptr();
    let mut first = _mm256_setzero_si256();
    let mut found = 0;
    for group in scores.chunks_exact(8) {
        // SAFETY: a group is eight scores; no more are found than were looked at, so eight fit.
        unsafe {
            let reached = _mm256_cmp_ps::<_CMP_GE_OQ>(_mm256_loadu_ps(group.as_ptr()), least);
            let mask = _mm256_movemask_ps(reached) as u32;
            let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(BITS.as_ptr().add(mask as usize).cast()));
            _mm256_storeu_si256(out.add(found).cast(), _mm256_add_epi32(lanes, first));
            found += mask.count_ones() as usize;
        }
        first = _mm256_add_epi32(first, _mm256_set1_epi32(8));
    }
    found
}
