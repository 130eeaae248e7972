//! Kernels for x86-64 processors with AVX-512: sixteen entries at a time.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::avx2::Avx2;
use super::best::{Found, best_of_each};
use super::{LANES, PROBES, Scores, Space, Table, maxima};
use crate::shard::{Grouping, Row};

/// Proof that this processor has the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512 {
    /// What can be done with shorter vectors just as well.
    pub(super) avx2: Avx2,
}

impl Avx512 {
    pub(super) fn detect() -> Option<Avx512> {
        let avx2 = Avx2::detect()?;
        is_x86_feature_detected!("avx512f").then_some(Avx512 { avx2 })
    }

    #[inline]
    pub(super) fn score(self, table: &Table, row: Row<'_>, k: usize, scores: &mut [f32]) -> f32 {
        if table.scores() == Scores::Bound {
            return self.avx2.score(table, row, k, scores);
        }
        assert!(scores.len() >= row.len().next_multiple_of(LANES), "space for the scores");
        assert!(table.words.len() >= Grouping::CODES, "a word for every code");
        // SAFETY: `self` proves the instructions. `Row::new` has seen that 16 entries follow the row, so groups of
        // 16 stay within both slices; the scores and the words have been checked.
        unsafe { score(&table.words, row, k, scores) }
    }

    #[inline]
    pub(super) fn best_of_each<'r>(
        self,
        table: &Table,
        rows: impl Iterator<Item = Row<'r>>,
        k: usize,
        space: &mut Space,
        tell: impl FnMut(Row<'r>, &mut Space, Found),
    ) {
        best_of_each(
            rows,
            k,
            space,
            |row, scores| self.score(table, row, k, scores),
            |scores, threshold, positions| self.find(scores, threshold, positions),
            |scores, positions, found, best| self.avx2.split(scores, positions, found, k, best),
            tell,
        );
    }

    #[inline]
    pub(super) fn count(self, scores: &[f32], thresholds: [f32; PROBES]) -> [usize; PROBES] {
        // SAFETY: `self` proves the instructions.
        unsafe { count(scores, thresholds) }
    }

    #[inline]
    pub(super) fn find(self, scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
        assert!(positions.len() >= scores.len() + LANES, "space for the positions");
        // SAFETY: `self` proves the instructions, and the positions have been checked.
        unsafe { find(scores, threshold, positions) }
    }
}

/// # Safety
/// The processor has the instructions; 16 entries follow the row; `scores` has room for the row's length
/// rounded up to a multiple of 16; there is a word for every code.
#[inline]
unsafe fn score(words: &[u64], row: Row<'_>, k: usize, scores: &mut [f32]) -> f32 {
    // SAFETY: as promised by the caller.
    unsafe {
        match maxima(k) {
            LANES => score_with::<1>(words, row, k, scores),
            _ => score_with::<2>(words, row, k, scores),
        }
    }
}

/// With the largest scores in so many registers.
///
/// # Safety
/// As for [`score`].
#[target_feature(enable = "avx512f,popcnt")]
unsafe fn score_with<const REGISTERS: usize>(
    words: &[u64],
    row: Row<'_>,
    k: usize,
    scores: &mut [f32],
) -> f32 {
    let (codes, values) = row.padded();
    let (codes, values, out) = (codes.as_ptr(), values.as_ptr(), scores.as_mut_ptr());
    let nothing = _mm512_set1_ps(f32::NEG_INFINITY);
    let mut largest = [nothing; REGISTERS];
    let mut at = 0;
    // SAFETY: `at + 16` stays within what the caller promised.
    unsafe {
        while at < row.len() {
            let inside = u16::MAX >> (LANES - (row.len() - at).min(LANES));
            let scores = _mm512_mask_mov_ps(nothing, inside, sixteen(words, codes.add(at), values.add(at)));
            _mm512_storeu_ps(out.add(at), scores);
            largest[0] = _mm512_max_ps(largest[0], scores);
            largest.rotate_left(1);
            at += LANES;
        }
    }
    if k > LANES * REGISTERS { f32::NEG_INFINITY } else { kth_largest(k, largest) }
}

/// The k-th largest of some numbers.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
fn kth_largest<const REGISTERS: usize>(k: usize, numbers: [__m512; REGISTERS]) -> f32 {
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
    // The smallest of those with fewer than k above them.
    let limit = _mm512_set1_epi32(k as i32);
    let smallest = |(&above, &numbers): (&__m512i, &__m512)| {
        _mm512_mask_reduce_min_ps(_mm512_cmplt_epi32_mask(above, limit), numbers)
    };
    above.iter().zip(&numbers).map(smallest).fold(f32::INFINITY, f32::min)
}

/// The scores of sixteen entries, each rounded once.
///
/// # Safety
/// The processor has the instructions; sixteen codes and sixteen values can be read; there is a word for every
/// code.
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
unsafe fn sixteen(words: &[u64], codes: *const u16, values: *const f32) -> __m512 {
    let words = words.as_ptr().cast::<i64>();
    // SAFETY: promised by the caller.
    unsafe {
        let wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(codes.cast()));
        let low = _mm512_castsi512_ps(_mm512_i32gather_epi64::<8>(_mm512_castsi512_si256(wide), words));
        let high = _mm512_i32gather_epi64::<8>(_mm512_extracti64x4_epi64::<1>(wide), words);
        let high = _mm512_castsi512_ps(high);
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
        let slopes = _mm512_permutex2var_ps(low, even, high);
        let intercepts = _mm512_permutex2var_ps(low, odd, high);
        _mm512_fmadd_ps(slopes, _mm512_loadu_ps(values), intercepts)
    }
}

/// # Safety
/// The processor has the instructions.
#[target_feature(enable = "avx512f,popcnt")]
unsafe fn count(scores: &[f32], thresholds: [f32; PROBES]) -> [usize; PROBES] {
    let least = thresholds.map(|threshold| _mm512_set1_ps(threshold));
    let mut totals = [0; PROBES];
    for group in scores.chunks_exact(LANES) {
        // SAFETY: a group is sixteen scores.
        let group = unsafe { _mm512_loadu_ps(group.as_ptr()) };
        for (total, &least) in totals.iter_mut().zip(&least) {
            *total += _mm512_cmp_ps_mask::<_CMP_GE_OQ>(group, least).count_ones() as usize;
        }
    }
    totals
}

/// # Safety
/// The processor has the instructions; there is room for sixteen positions more than scores.
#[target_feature(enable = "avx512f,popcnt")]
unsafe fn find(scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
    let least = _mm512_set1_ps(threshold);
    let mut places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let out = positions.as_mut_ptr();
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
