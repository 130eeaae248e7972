//! Kernels for x86-64 processors with AVX2 and FMA: eight entries at a time.
//!
//! Pairs are looked up by plain 64-bit loads: on the processors tried, gather instructions are slower.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{LANES, PROBES, ROUNDING, Table};
use crate::shard::{Column, Entries};

/// Proof that this processor has the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Avx2> {
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("popcnt"))
        .then_some(Avx2(()))
    }

    #[inline]
    pub(super) fn score<C: Column>(
        self,
        table: &Table,
        row: Entries<'_, C>,
        k: usize,
        scores: &mut [f32],
    ) -> f32 {
        assert!(scores.len() >= row.len().next_multiple_of(LANES), "space for the scores");
        // SAFETY: `self` proves the instructions. `Entries::new` has seen that 16 entries follow the row,
        // so groups of 16 stay within both slices; the scores have been checked.
        unsafe { score::<Exactly, C>(&table.words, row, k, scores) }
    }

    #[inline]
    pub(super) fn bound<C: Column>(
        self,
        table: &Table,
        row: Entries<'_, C>,
        k: usize,
        scores: &mut [f32],
    ) -> f32 {
        assert!(scores.len() >= row.len().next_multiple_of(LANES), "space for the scores");
        assert!(table.is_rounded(), "rounded coefficients");
        // SAFETY: as above.
        unsafe { score::<Rounded, C>(&table.rounded, row, k, scores) }
    }

    #[inline]
    pub(super) fn count(self, scores: &[f32], thresholds: [f32; PROBES]) -> [usize; PROBES] {
        // SAFETY: `self` proves the instructions.
        unsafe { count(scores, thresholds) }
    }

    #[inline]
    pub(super) fn find(self, scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
        assert!(positions.len() >= scores.len() + 8, "space for the positions");
        // SAFETY: `self` proves the instructions, and the positions have been checked.
        unsafe { find(scores, threshold, positions) }
    }
}

/// Scores eight entries: what is stored, and what is not above any of their exact scores.
///
/// # Safety
/// The processor has the instructions; eight columns and eight values can be read.
trait Eight {
    type Word;

    unsafe fn eight<C: Column>(
        words: &[Self::Word],
        columns: *const C,
        values: *const f32,
    ) -> (__m256, __m256);
}

/// With the coefficients themselves.
struct Exactly;

/// With rounded ones.
struct Rounded;

/// Scores a row. Returns what at least `k` exact scores reach.
///
/// # Safety
/// The processor has the instructions; 16 entries follow the row; `scores` has room for the row's length
/// rounded up to a multiple of 16.
#[target_feature(enable = "avx2,fma,popcnt")]
unsafe fn score<E: Eight, C: Column>(
    words: &[E::Word],
    row: Entries<'_, C>,
    k: usize,
    scores: &mut [f32],
) -> f32 {
    let (columns, values) = row.padded();
    // Few labels have their coefficients in the cache anyway.
    let far = size_of::<C>() > 2 && columns.len() >= row.len() + AHEAD + LANES;
    let (columns, values, out) = (columns.as_ptr(), values.as_ptr(), scores.as_mut_ptr());
    let nothing = _mm256_set1_ps(f32::NEG_INFINITY);
    let (mut low, mut high) = (nothing, nothing);
    let whole = row.len() / LANES * LANES;
    let mut at = 0;
    // SAFETY: `at + 16` stays within what the caller promised, and `at + AHEAD + 16` within the columns where
    // it is used.
    unsafe {
        while at < whole {
            if far {
                bring(words, columns.add(at + AHEAD));
            }
            let (first, first_least) = E::eight(words, columns.add(at), values.add(at));
            let (second, second_least) = E::eight(words, columns.add(at + 8), values.add(at + 8));
            _mm256_storeu_ps(out.add(at), first);
            _mm256_storeu_ps(out.add(at + 8), second);
            low = _mm256_max_ps(low, first_least);
            high = _mm256_max_ps(high, second_least);
            at += LANES;
        }
        while at < row.len() {
            let left = _mm256_set1_epi32((row.len() - at) as i32);
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let inside = _mm256_castsi256_ps(_mm256_cmpgt_epi32(left, lanes));
            let (some, least) = E::eight(words, columns.add(at), values.add(at));
            _mm256_storeu_ps(out.add(at), _mm256_blendv_ps(nothing, some, inside));
            // Both registers have had as many, so either will do; one after the other is faster.
            (low, high) = (high, _mm256_max_ps(low, _mm256_blendv_ps(nothing, least, inside)));
            at += 8;
        }
        if at % LANES != 0 {
            _mm256_storeu_ps(out.add(at), nothing);
        }
    }
    if k > LANES { f32::NEG_INFINITY } else { largest(k, low, high) }
}

/// How many entries ahead their coefficients are asked for: the time of a miss, in entries.
const AHEAD: usize = 96;

/// Asks for the coefficients of sixteen entries.
///
/// # Safety
/// Sixteen columns can be read.
#[inline(always)]
unsafe fn bring<W, C: Column>(words: &[W], columns: *const C) {
    for lane in 0..LANES {
        // SAFETY: promised by the caller; asking for an address does no harm wherever it points.
        unsafe {
            let column = (*columns.add(lane)).index();
            _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().wrapping_add(column).cast());
        }
    }
}

/// The k-th largest of sixteen numbers.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn largest(k: usize, low: __m256, high: __m256) -> f32 {
    let mut numbers = [0.0; LANES];
    // SAFETY: sixteen numbers of 32 bits.
    unsafe {
        _mm256_storeu_ps(numbers.as_mut_ptr(), low);
        _mm256_storeu_ps(numbers.as_mut_ptr().add(8), high);
    }
    // How many are larger than each one; a comparison that holds is -1.
    let (mut above_low, mut above_high) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    for number in &numbers {
        let number = _mm256_broadcast_ss(number);
        let larger = |than| _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GT_OQ>(number, than));
        above_low = _mm256_sub_epi32(above_low, larger(low));
        above_high = _mm256_sub_epi32(above_high, larger(high));
    }
    // The smallest of those with fewer than k above them.
    let (limit, none) = (_mm256_set1_epi32(k as i32), _mm256_set1_ps(f32::INFINITY));
    let among = |above, numbers| {
        _mm256_blendv_ps(none, numbers, _mm256_castsi256_ps(_mm256_cmpgt_epi32(limit, above)))
    };
    let eight = _mm256_min_ps(among(above_low, low), among(above_high, high));
    let four = _mm_min_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
    let two = _mm_min_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_min_ss(two, _mm_shuffle_ps::<1>(two, two)))
}

/// Where the words of eight columns are.
///
/// # Safety
/// The processor has the instructions; eight columns can be read.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
unsafe fn places<W, C: Column>(words: &[W], columns: *const C) -> [*const W; 8] {
    // SAFETY: the columns are promised, and those that are returned are below the number of words: that is so of
    // all columns of 16 bits, or has been checked.
    unsafe {
        if size_of::<C>() == 2 && words.len() >= 1 << 16 {
            let both =
                [columns.cast::<u64>().read_unaligned(), columns.cast::<u64>().add(1).read_unaligned()];
            let part = |lane: usize| (both[lane / 4] >> (16 * (lane % 4))) as u16;
            return std::array::from_fn(|lane| words.as_ptr().add(part(lane).into()));
        }
        let wide = match size_of::<C>() {
            2 => _mm256_cvtepu16_epi32(_mm_loadu_si128(columns.cast())),
            _ => _mm256_loadu_si256(columns.cast()),
        };
        let last = _mm256_set1_epi32((words.len() - 1) as u32 as i32);
        let allowed = _mm256_cmpeq_epi32(_mm256_min_epu32(wide, last), wide);
        assert!(_mm256_movemask_epi8(allowed) == -1, "every column has coefficients");
        std::array::from_fn(|lane| words.as_ptr().add((*columns.add(lane)).index()))
    }
}

impl Eight for Exactly {
    type Word = u64;

    /// Scores that are rounded once, which is monotone.
    #[target_feature(enable = "avx2,fma,popcnt")]
    #[inline]
    unsafe fn eight<C: Column>(words: &[u64], columns: *const C, values: *const f32) -> (__m256, __m256) {
        // SAFETY: as promised by the caller.
        unsafe {
            let two = |first: *const u64, second: *const u64| {
                _mm_loadh_pd(_mm_castsi128_pd(_mm_loadl_epi64(first.cast())), second.cast())
            };
            let [a, b, c, d, e, f, g, h] = places(words, columns);
            let outer = _mm256_castpd_ps(_mm256_set_m128d(two(e, f), two(a, b)));
            let inner = _mm256_castpd_ps(_mm256_set_m128d(two(g, h), two(c, d)));
            let slopes = _mm256_shuffle_ps::<0x88>(outer, inner);
            let intercepts = _mm256_shuffle_ps::<0xdd>(outer, inner);
            let scores = _mm256_fmadd_ps(slopes, _mm256_loadu_ps(values), intercepts);
            (scores, scores)
        }
    }
}

impl Eight for Rounded {
    type Word = u32;

    /// Scores of coefficients that were rounded up, and those less all that this can have added.
    #[target_feature(enable = "avx2,fma,popcnt")]
    #[inline]
    unsafe fn eight<C: Column>(words: &[u32], columns: *const C, values: *const f32) -> (__m256, __m256) {
        // SAFETY: as promised by the caller.
        unsafe {
            let [a, b, c, d, e, f, g, h] = places(words, columns).map(|place| *place as i32);
            let both = _mm256_setr_epi32(a, b, c, d, e, f, g, h);
            let upper = _mm256_set1_epi32(0xffff_0000_u32 as i32);
            let slopes = _mm256_castsi256_ps(_mm256_and_si256(both, upper));
            let intercepts = _mm256_castsi256_ps(_mm256_slli_epi32::<16>(both));
            let values = _mm256_loadu_ps(values);
            let scores = _mm256_fmadd_ps(slopes, values, intercepts);
            let size = |number| _mm256_andnot_ps(_mm256_set1_ps(-0.0), number);
            // The smallest numbers have fewer digits to round.
            let sizes = _mm256_add_ps(size(intercepts), _mm256_set1_ps(1e-34));
            let sizes = _mm256_fmadd_ps(size(slopes), values, sizes);
            (scores, _mm256_fnmadd_ps(sizes, _mm256_set1_ps(ROUNDING), scores))
        }
    }
}

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx2,fma,popcnt")]
unsafe fn count(scores: &[f32], thresholds: [f32; PROBES]) -> [usize; PROBES] {
    let least = thresholds.map(|threshold| _mm256_set1_ps(threshold));
    let mut totals = [_mm256_setzero_si256(); PROBES];
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
/// # Safety
/// The processor has the instructions; there is room for eight positions more than scores.
#[target_feature(enable = "avx2,fma,popcnt")]
unsafe fn find(scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
    let least = _mm256_set1_ps(threshold);
    let out = positions.as_mut_ptr();
    let (mut found, mut first) = (0, 0);
    for group in scores.chunks_exact(8) {
        // SAFETY: a group is eight scores; no more are found than were looked at, so eight fit.
        unsafe {
            let reached = _mm256_cmp_ps::<_CMP_GE_OQ>(_mm256_loadu_ps(group.as_ptr()), least);
            let mask = _mm256_movemask_ps(reached) as usize;
            let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(BITS[mask & 0xff].as_ptr().cast()));
            let places = _mm256_add_epi32(lanes, _mm256_set1_epi32(first));
            _mm256_storeu_si256(out.add(found).cast(), places);
            found += mask.count_ones() as usize;
        }
        first += 8;
    }
    found
}
