//! Scores of the entries of a row.

use std::arch::x86_64::*;

use super::largest::kth_largest;
use crate::classifier::kernel::avx2::score as avx2;
use crate::classifier::kernel::{LANES, MAX_SHORT_LIST, maxima_count};
use crate::shard::Row;

/// Scores sixteen entries: what is stored, and what is not above any of their single scores.
///
/// # Safety
/// The processor has the instructions; sixteen codes and sixteen values can be read; there is a word for every code.
pub(super) trait ScoreSixteen {
    unsafe fn sixteen(&self, codes: *const u16, values: *const f32) -> (__m512, __m512);
}

/// By the coefficients of their columns, which are their codes. Either sixteen words are looked up by gather instructions,
/// or one after the other: see [`super::gather_timing`].
pub(super) struct SingleScores<'t, const GATHERS: bool>(pub(super) &'t [u64]);

/// By the bounds of their codes.
pub(super) struct ScoreBounds<'t, const GATHERS: bool>(pub(super) &'t [u64]);

/// Scores a row. Returns what at least `k` single scores reach.
///
/// # Safety
/// As for [`score_keeping_maxima`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) unsafe fn score<E: ScoreSixteen>(words: E, row: Row<'_>, k: usize, scores: &mut [f32]) -> f32 {
    // SAFETY: as promised by the caller.
    unsafe {
        match maxima_count(k) {
            LANES => kth_largest(k, score_with::<E, 1>(words, row, scores)),
            _ if k > MAX_SHORT_LIST => {
                score_with::<E, 2>(words, row, scores);
                f32::NEG_INFINITY
            }
            _ => kth_largest(k, score_with::<E, 2>(words, row, scores)),
        }
    }
}

/// Scores a row. `largest` is then for [`kth_of_maxima`].
///
/// # Safety
/// The processor has the instructions; 16 entries follow the row; `scores` has room for the row's length
/// rounded up to a multiple of 16; there is a word for every code.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) unsafe fn score_keeping_maxima<E: ScoreSixteen>(
    words: E,
    row: Row<'_>,
    k: usize,
    scores: &mut [f32],
    largest: &mut [f32; MAX_SHORT_LIST],
) {
    // SAFETY: as promised by the caller; there is room for 32 numbers.
    unsafe {
        match maxima_count(k) {
            LANES => {
                let [one] = score_with::<E, 1>(words, row, scores);
                _mm512_storeu_ps(largest.as_mut_ptr(), one);
            }
            _ => {
                let [one, other] = score_with::<E, 2>(words, row, scores);
                _mm512_storeu_ps(largest.as_mut_ptr(), one);
                _mm512_storeu_ps(largest[LANES..].as_mut_ptr(), other);
            }
        }
    }
}

/// What at least `k` single scores reach, by what scoring left. For k up to [`MAX_BOUNDED_K`](crate::classifier::kernel::MAX_BOUNDED_K).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn kth_of_maxima(largest: &[f32; MAX_SHORT_LIST], k: usize) -> f32 {
    // SAFETY: there are 32 numbers.
    let (one, other) =
        unsafe { (_mm512_loadu_ps(largest.as_ptr()), _mm512_loadu_ps(largest[LANES..].as_ptr())) };
    match maxima_count(k) {
        LANES => kth_largest(k, [one]),
        _ => kth_largest(k, [one, other]),
    }
}

const _: () = assert!(MAX_SHORT_LIST == 2 * LANES, "as many as there are maxima at most");

/// How many entries ahead they are asked for. Into all caches: asked for as what is needed once, some are gone again when their
/// turn comes (measured on Sapphire Rapids).
const PREFETCH_DISTANCE: usize = 512;

/// With the largest scores in so many registers, which are returned.
///
/// # Safety
/// As for [`score_keeping_maxima`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
unsafe fn score_with<E: ScoreSixteen, const REGISTERS: usize>(
    words: E,
    row: Row<'_>,
    scores: &mut [f32],
) -> [__m512; REGISTERS] {
    let (codes, values) = row.padded();
    let (codes, values, out) = (codes.as_ptr(), values.as_ptr(), scores.as_mut_ptr());
    let nothing = _mm512_set1_ps(f32::NEG_INFINITY);
    let mut largest = [nothing; REGISTERS];
    let mut at = 0;
    // SAFETY: `at + 16` stays within what the caller promised.
    unsafe {
        while at < row.len() {
            _mm_prefetch::<_MM_HINT_T0>(values.wrapping_add(at + PREFETCH_DISTANCE).cast());
            _mm_prefetch::<_MM_HINT_T0>(codes.wrapping_add(at + PREFETCH_DISTANCE).cast());
            let inside = u16::MAX >> (LANES - (row.len() - at).min(LANES));
            let (some, least) = words.sixteen(codes.add(at), values.add(at));
            _mm512_storeu_ps(out.add(at), _mm512_mask_mov_ps(nothing, inside, some));
            largest[0] = _mm512_mask_max_ps(largest[0], inside, largest[0], least);
            largest.rotate_left(1);
            at += LANES;
        }
    }
    largest
}

/// The scores of sixteen columns, each rounded once, which is monotone.
///
/// # Safety
/// The processor has the instructions; there is a word for every column.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) unsafe fn score_sixteen(words: &[u64], columns: __m512i, values: __m512) -> __m512 {
    // SAFETY: as promised by the caller.
    let (slopes, intercepts) = unsafe { halves(words, columns) };
    _mm512_fmadd_ps(slopes, values, intercepts)
}

/// The lower halves of the words of sixteen columns, and the upper ones.
///
/// # Safety
/// The processor has the instructions; there is a word for every column.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
unsafe fn halves(words: &[u64], columns: __m512i) -> (__m512, __m512) {
    let words = words.as_ptr().cast::<i64>();
    // SAFETY: as promised by the caller.
    let (low, high) = unsafe {
        let low = _mm512_i32gather_epi64::<8>(_mm512_castsi512_si256(columns), words);
        let high = _mm512_i32gather_epi64::<8>(_mm512_extracti64x4_epi64::<1>(columns), words);
        (_mm512_castsi512_ps(low), _mm512_castsi512_ps(high))
    };
    let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    let odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    (_mm512_permutex2var_ps(low, even, high), _mm512_permutex2var_ps(low, odd, high))
}

/// [`halves`] of the words of sixteen codes.
///
/// # Safety
/// The processor has the instructions; sixteen codes can be read; there is a word for every code.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) unsafe fn halves_of<const GATHERS: bool>(words: &[u64], codes: *const u16) -> (__m512, __m512) {
    // SAFETY: as promised by the caller.
    unsafe {
        if GATHERS {
            return halves(words, _mm512_cvtepu16_epi32(_mm256_loadu_si256(codes.cast())));
        }
        let first = avx2::halves(avx2::word_addresses(words, codes));
        let second = avx2::halves(avx2::word_addresses(words, codes.add(LANES / 2)));
        let both =
            |first: __m256, second: __m256| _mm512_insertf32x8::<1>(_mm512_castps256_ps512(first), second);
        (both(first.0, second.0), both(first.1, second.1))
    }
}

impl<const GATHERS: bool> ScoreSixteen for SingleScores<'_, GATHERS> {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
    #[inline]
    unsafe fn sixteen(&self, codes: *const u16, values: *const f32) -> (__m512, __m512) {
        // SAFETY: as promised by the caller.
        let ((slopes, intercepts), values) =
            unsafe { (halves_of::<GATHERS>(self.0, codes), _mm512_loadu_ps(values)) };
        let scores = _mm512_fmadd_ps(slopes, values, intercepts);
        (scores, scores)
    }
}

impl<const GATHERS: bool> ScoreSixteen for ScoreBounds<'_, GATHERS> {
    /// What no column of their codes scores above, and below.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
    #[inline]
    unsafe fn sixteen(&self, codes: *const u16, values: *const f32) -> (__m512, __m512) {
        // SAFETY: as promised by the caller.
        let ((up, down), values) = unsafe { (halves_of::<GATHERS>(self.0, codes), _mm512_loadu_ps(values)) };
        let score = |both: __m512| {
            let slopes = _mm512_and_ps(both, _mm512_castsi512_ps(_mm512_set1_epi32(0xffff_0000_u32 as i32)));
            let intercepts = _mm512_slli_epi32::<16>(_mm512_castps_si512(both));
            _mm512_fmadd_ps(slopes, values, _mm512_castsi512_ps(intercepts))
        };
        (score(up), score(down))
    }
}
