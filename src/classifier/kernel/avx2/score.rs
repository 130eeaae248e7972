//! Scores of the entries of a row.

use std::arch::x86_64::*;

use super::largest::kth_largest;
use crate::classifier::kernel::{LANES, MAX_SHORT_LIST, maxima_count};
use crate::shard::Row;

/// Scores eight entries: what is stored, and what is not above any of their single scores.
///
/// # Safety
/// The processor has the instructions; eight codes and eight values can be read; there is a word for every code.
pub(super) trait ScoreEight {
    unsafe fn eight(&self, codes: *const u16, values: *const f32) -> (__m256, __m256);
}

/// By the coefficients of their columns, which are their codes.
pub(super) struct SingleScores<'t>(pub(super) &'t [u64]);

/// By the bounds of their codes.
pub(super) struct ScoreBounds<'t>(pub(super) &'t [u64]);

/// Scores a row. Returns what at least `k` single scores reach.
///
/// # Safety
/// As for [`score_keeping_maxima`].
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
pub(super) unsafe fn score<E: ScoreEight>(words: E, row: Row<'_>, k: usize, scores: &mut [f32]) -> f32 {
    // SAFETY: as promised by the caller.
    unsafe {
        match maxima_count(k) {
            LANES => kth_largest(k, score_with::<E, 2>(words, row, scores)),
            _ if k > MAX_SHORT_LIST => {
                score_with::<E, 4>(words, row, scores);
                f32::NEG_INFINITY
            }
            _ => kth_largest(k, score_with::<E, 4>(words, row, scores)),
        }
    }
}

/// Scores a row. `largest` is then for [`kth_of_maxima`].
///
/// # Safety
/// The processor has the instructions; 16 entries follow the row; `scores` has room for the row's length
/// rounded up to a multiple of 16; there is a word for every code.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
pub(super) unsafe fn score_keeping_maxima<E: ScoreEight>(
    words: E,
    row: Row<'_>,
    k: usize,
    scores: &mut [f32],
    largest: &mut [f32; MAX_SHORT_LIST],
) {
    // SAFETY: as promised by the caller.
    unsafe {
        match maxima_count(k) {
            LANES => store_registers(score_with::<E, 2>(words, row, scores), largest),
            _ => store_registers(score_with::<E, 4>(words, row, scores), largest),
        }
    }
}

/// What at least `k` single scores reach, by what scoring left. For k up to [`MAX_BOUNDED_K`](crate::classifier::kernel::MAX_BOUNDED_K).
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
pub(super) fn kth_of_maxima(largest: &[f32; MAX_SHORT_LIST], k: usize) -> f32 {
    match maxima_count(k) {
        LANES => kth_largest::<2>(k, load_registers(largest)),
        _ => kth_largest::<4>(k, load_registers(largest)),
    }
}

/// Writes registers of eight numbers, at most four.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn store_registers<const REGISTERS: usize>(
    registers: [__m256; REGISTERS],
    numbers: &mut [f32; MAX_SHORT_LIST],
) {
    for (&register, eight) in registers.iter().zip(numbers.chunks_exact_mut(8)) {
        // SAFETY: there is room for eight.
        unsafe { _mm256_storeu_ps(eight.as_mut_ptr(), register) };
    }
}

/// Reads as many.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn load_registers<const REGISTERS: usize>(numbers: &[f32; MAX_SHORT_LIST]) -> [__m256; REGISTERS] {
    // SAFETY: there are eight.
    std::array::from_fn(|at| unsafe { _mm256_loadu_ps(numbers[8 * at..8 * at + 8].as_ptr()) })
}

/// With the largest scores in so many registers, which are returned.
///
/// # Safety
/// As for [`score_keeping_maxima`].
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
unsafe fn score_with<E: ScoreEight, const REGISTERS: usize>(
    words: E,
    row: Row<'_>,
    scores: &mut [f32],
) -> [__m256; REGISTERS] {
    let (codes, values) = row.padded();
    let (codes, values, out) = (codes.as_ptr(), values.as_ptr(), scores.as_mut_ptr());
    let nothing = _mm256_set1_ps(f32::NEG_INFINITY);
    let mut largest = [nothing; REGISTERS];
    let whole = row.len() / (8 * REGISTERS) * (8 * REGISTERS);
    let mut at = 0;
    // SAFETY: `at + 16` stays within what the caller promised.
    unsafe {
        while at < whole {
            for pair in largest.chunks_exact_mut(2) {
                _mm_prefetch::<_MM_HINT_NTA>(values.wrapping_add(at + PREFETCH_DISTANCE).cast());
                _mm_prefetch::<_MM_HINT_NTA>(codes.wrapping_add(at + PREFETCH_DISTANCE).cast());
                let (first, first_least) = words.eight(codes.add(at), values.add(at));
                let (second, second_least) = words.eight(codes.add(at + 8), values.add(at + 8));
                _mm256_storeu_ps(out.add(at), first);
                _mm256_storeu_ps(out.add(at + 8), second);
                pair[0] = _mm256_max_ps(pair[0], first_least);
                pair[1] = _mm256_max_ps(pair[1], second_least);
                at += 16;
            }
        }
        while at < row.len() {
            let left = _mm256_set1_epi32((row.len() - at) as i32);
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let inside = _mm256_castsi256_ps(_mm256_cmpgt_epi32(left, lanes));
            let (some, least) = words.eight(codes.add(at), values.add(at));
            _mm256_storeu_ps(out.add(at), _mm256_blendv_ps(nothing, some, inside));
            // All registers have had as many, so any will do; one after the other is faster.
            largest[0] = _mm256_max_ps(largest[0], _mm256_blendv_ps(nothing, least, inside));
            largest.rotate_left(1);
            at += 8;
        }
        if at % LANES != 0 {
            _mm256_storeu_ps(out.add(at), nothing);
        }
    }
    largest
}

/// How many entries ahead they are asked for, as what will not be needed again: so they take no place in the caches
/// from coefficients.
const PREFETCH_DISTANCE: usize = 512;

/// Where the words of eight codes are.
///
/// Codes are read one by one, and the compiler is kept from taking them apart out of a vector: a load that nothing waits for
/// costs less than that.
///
/// # Safety
/// The processor has the instructions; eight codes can be read; there is a word for every code.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
pub(in crate::classifier::kernel) unsafe fn word_addresses<W>(
    words: &[W],
    codes: *const u16,
) -> [*const W; 8] {
    // SAFETY: promised by the caller.
    std::array::from_fn(|lane| unsafe { words.as_ptr().add(codes.add(lane).read_volatile().into()) })
}

/// # Safety
/// The processor has the instructions; `columns` are a multiple of sixteen, and the others not fewer.
#[target_feature(enable = "avx2,fma,popcnt")]
pub(super) unsafe fn score_gathered(
    words: &[u64],
    columns: &[u32],
    length: usize,
    values: &[f32],
    k: usize,
    scores: &mut [f32],
) -> f32 {
    let last = _mm256_set1_epi32((words.len() - 1) as u32 as i32);
    let nothing = _mm256_set1_ps(f32::NEG_INFINITY);
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let (mut low, mut high) = (nothing, nothing);
    for (at, columns) in (0..).step_by(8).zip(columns.chunks_exact(8)) {
        // SAFETY: eight of each, as promised; every column has been seen to be below the number of words.
        unsafe {
            let wide = _mm256_loadu_si256(columns.as_ptr().cast());
            let allowed = _mm256_cmpeq_epi32(_mm256_min_epu32(wide, last), wide);
            assert!(_mm256_movemask_epi8(allowed) == -1, "every column has coefficients");
            let places = std::array::from_fn(|lane| words.as_ptr().add(columns[lane] as usize));
            let eight = score_eight(places, _mm256_loadu_ps(values.as_ptr().add(at)));
            let left = _mm256_set1_epi32((length as i32).wrapping_sub(at as i32));
            let inside = _mm256_castsi256_ps(_mm256_cmpgt_epi32(left, lanes));
            let eight = _mm256_blendv_ps(nothing, eight, inside);
            _mm256_storeu_ps(scores.as_mut_ptr().add(at), eight);
            (low, high) = (high, _mm256_max_ps(low, eight));
        }
    }
    if k > LANES { f32::NEG_INFINITY } else { kth_largest(k, [low, high]) }
}

/// The scores of eight entries, rounded once, which is monotone.
///
/// # Safety
/// The processor has the instructions; the eight words can be read.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
pub(super) unsafe fn score_eight(places: [*const u64; 8], values: __m256) -> __m256 {
    // SAFETY: as promised by the caller.
    let (slopes, intercepts) = unsafe { halves(places) };
    _mm256_fmadd_ps(slopes, values, intercepts)
}

/// The lower halves of eight words, and the upper ones.
///
/// # Safety
/// The processor has the instructions; the eight words can be read.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
pub(in crate::classifier::kernel) unsafe fn halves(
    [a, b, c, d, e, f, g, h]: [*const u64; 8],
) -> (__m256, __m256) {
    // SAFETY: as promised by the caller.
    unsafe {
        let two = |first: *const u64, second: *const u64| {
            _mm_loadh_pd(_mm_castsi128_pd(_mm_loadl_epi64(first.cast())), second.cast())
        };
        let outer = _mm256_castpd_ps(_mm256_set_m128d(two(e, f), two(a, b)));
        let inner = _mm256_castpd_ps(_mm256_set_m128d(two(g, h), two(c, d)));
        (_mm256_shuffle_ps::<0x88>(outer, inner), _mm256_shuffle_ps::<0xdd>(outer, inner))
    }
}

impl ScoreEight for SingleScores<'_> {
    #[target_feature(enable = "avx2,fma,popcnt")]
    #[inline]
    unsafe fn eight(&self, codes: *const u16, values: *const f32) -> (__m256, __m256) {
        // SAFETY: as promised by the caller.
        let scores = unsafe { score_eight(word_addresses(self.0, codes), _mm256_loadu_ps(values)) };
        (scores, scores)
    }
}

impl ScoreEight for ScoreBounds<'_> {
    /// What no column of their codes scores above, and below.
    #[target_feature(enable = "avx2,fma,popcnt")]
    #[inline]
    unsafe fn eight(&self, codes: *const u16, values: *const f32) -> (__m256, __m256) {
        // SAFETY: as promised by the caller.
        let ((up, down), values) =
            unsafe { (halves(word_addresses(self.0, codes)), _mm256_loadu_ps(values)) };
        let score = |both: __m256| {
            let slopes = _mm256_and_ps(both, _mm256_castsi256_ps(_mm256_set1_epi32(0xffff_0000_u32 as i32)));
            let intercepts = _mm256_slli_epi32::<16>(_mm256_castps_si256(both));
            _mm256_fmadd_ps(slopes, values, _mm256_castsi256_ps(intercepts))
        };
        (score(up), score(down))
    }
}
