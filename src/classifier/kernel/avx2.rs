//! Kernels for x86-64 processors with AVX2 and FMA: eight entries at a time.
//!
//! Pairs are looked up by plain 64-bit loads: on the processors tried, gather instructions are slower.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::best::{Found, best_of_each};
use super::{BOUNDED, LANES, PROBES, Scores, Space, Table, maxima};
use crate::memory::prefetch::bring;
use crate::shard::{Grouping, Row};

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

    /// Asks for the coefficients of the columns in `early` on the way.
    #[inline]
    pub(super) fn score(
        self,
        table: &Table,
        row: Row<'_>,
        k: usize,
        scores: &mut [f32],
        early: &[u32],
    ) -> f32 {
        assert!(scores.len() >= row.len().next_multiple_of(LANES), "space for the scores");
        // SAFETY: `self` proves the instructions. `Row::new` has seen that 16 entries follow the row, so groups of
        // 16 stay within both slices; the scores have been checked; a table has a word and, where it has any, a
        // bound for every code, which is checked again.
        unsafe {
            match table.scores() {
                Scores::Single => {
                    assert!(table.words.len() >= Grouping::CODES, "a word for every code");
                    score(Singles(&table.words), row, k, scores)
                }
                Scores::Bound => {
                    assert!(table.bounds.len() >= Grouping::CODES, "a bound for every code");
                    let early = Early { words: &table.words, columns: early };
                    score(Bounds { bounds: &table.bounds, early }, row, k, scores)
                }
            }
        }
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
        assert!(table.words.len() >= Grouping::CODES, "a word for every code");
        // SAFETY: `self` proves the instructions, and the words have been checked.
        unsafe { best_of_rows(&table.words, rows, k, space, tell) }
    }

    /// Writes those `k` of the first `found` positions, up to [`AT_ONCE`](super::AT_ONCE), that have the largest scores. Returns the smallest of those, or nothing
    /// where another is too close. There are at least as many positions, and all have a score.
    #[inline]
    pub(super) fn split(
        self,
        scores: &[f32],
        positions: &[u32],
        found: usize,
        k: usize,
        best: &mut [u32; BOUNDED],
    ) -> Option<f32> {
        // SAFETY: `self` proves the instructions.
        unsafe { split(scores, positions, found, k, best) }
    }

    /// Writes the single scores of the first `length` columns, and minus infinity for the rest. Returns what at
    /// least `k` scores reach.
    ///
    /// # Panics
    /// When a column has no word in the table, or a slice is shorter than `columns`.
    #[inline]
    pub(super) fn score_few(
        self,
        table: &Table,
        columns: &[u32],
        length: usize,
        values: &[f32],
        k: usize,
        scores: &mut [f32],
    ) -> f32 {
        let whole = columns.len();
        assert!(
            whole.is_multiple_of(LANES) && values.len() >= whole && scores.len() >= whole,
            "whole vectors"
        );
        // SAFETY: `self` proves the instructions, and the lengths have been checked.
        unsafe { score_few(&table.words, columns, length, values, k, scores) }
    }

    #[inline]
    pub(super) fn contains(self, codes: &[u16], code: u16) -> bool {
        // SAFETY: `self` proves the instructions.
        unsafe { contains(codes, code) }
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

/// Scores eight entries: what is stored, and what is not above any of their single scores.
///
/// # Safety
/// The processor has the instructions; eight codes and eight values can be read; there is a word for every code.
trait Eight {
    unsafe fn eight(&self, codes: *const u16, values: *const f32) -> (__m256, __m256);

    /// Called before every other eight: something else may be asked for meanwhile.
    #[inline(always)]
    fn ask(&mut self) {}

    /// Called at the end of a row.
    #[inline(always)]
    fn ask_rest(self)
    where
        Self: Sized,
    {
    }
}

/// By the coefficients of their columns, which are their codes.
struct Singles<'t>(&'t [u64]);

/// By the bounds of their codes.
struct Bounds<'t> {
    bounds: &'t [u64],
    early: Early<'t>,
}

/// Columns whose coefficients are going to be looked up.
///
/// They are in no cache. Asked for all at once they would fill up what keeps track of answers from memory, and everything
/// would stand still until some have come; so some are asked for with every group of entries that is scored.
struct Early<'t> {
    words: &'t [u64],
    columns: &'t [u32],
}

impl Early<'_> {
    /// How many are asked for at a time: so that a row of a hundred entries has asked for as many as mostly matter.
    const SOME: usize = 4;

    #[inline(always)]
    fn bring_some(&mut self) {
        let (now, later) = self.columns.split_at(self.columns.len().min(Early::SOME));
        now.iter().for_each(|&column| bring(self.words, column as usize));
        self.columns = later;
    }

    #[inline(always)]
    fn bring_rest(self) {
        self.columns.iter().for_each(|&column| bring(self.words, column as usize));
    }
}

/// Scores a row. Returns what at least `k` single scores reach.
///
/// # Safety
/// The processor has the instructions; 16 entries follow the row; `scores` has room for the row's length
/// rounded up to a multiple of 16; there is a word for every code.
#[inline]
unsafe fn score<E: Eight>(words: E, row: Row<'_>, k: usize, scores: &mut [f32]) -> f32 {
    // SAFETY: as promised by the caller.
    unsafe {
        match maxima(k) {
            LANES => score_with::<E, 2>(words, row, k, scores),
            _ => score_with::<E, 4>(words, row, k, scores),
        }
    }
}

/// With the largest scores in so many registers.
///
/// # Safety
/// As for [`score`].
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
unsafe fn score_with<E: Eight, const REGISTERS: usize>(
    mut words: E,
    row: Row<'_>,
    k: usize,
    scores: &mut [f32],
) -> f32 {
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
                _mm_prefetch::<_MM_HINT_NTA>(values.wrapping_add(at + AHEAD).cast());
                _mm_prefetch::<_MM_HINT_NTA>(codes.wrapping_add(at + AHEAD).cast());
                words.ask();
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
    words.ask_rest();
    if k > 8 * REGISTERS { f32::NEG_INFINITY } else { kth_largest(k, largest) }
}

/// # Safety
/// The processor has the instructions; there is a word for every code.
#[target_feature(enable = "avx2,fma,popcnt")]
unsafe fn best_of_rows<'r>(
    words: &[u64],
    rows: impl Iterator<Item = Row<'r>>,
    k: usize,
    space: &mut Space,
    tell: impl FnMut(Row<'r>, &mut Space, Found),
) {
    best_of_each(
        rows,
        k,
        space,
        // SAFETY: `Row::new` has seen that 16 entries follow the row, and there are as many scores as entries, rounded up.
        |row, scores| unsafe { score(Singles(words), row, k, scores) },
        |scores, threshold, positions| {
            assert!(positions.len() >= scores.len() + 8, "space for the positions");
            // SAFETY: just checked.
            unsafe { find(scores, threshold, positions) }
        },
        |scores, positions, found, best| split(scores, positions, found, k, best),
        tell,
    );
}

/// See [`Avx2::split`].
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn split(
    scores: &[f32],
    positions: &[u32],
    found: usize,
    k: usize,
    best: &mut [u32; BOUNDED],
) -> Option<f32> {
    match found {
        0..=8 => split_with::<1>(scores, positions, found, k, best),
        9..=16 => split_with::<2>(scores, positions, found, k, best),
        _ => split_with::<4>(scores, positions, found, k, best),
    }
}

/// With up to eight scores for each register.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn split_with<const REGISTERS: usize>(
    scores: &[f32],
    positions: &[u32],
    found: usize,
    k: usize,
    best: &mut [u32; BOUNDED],
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
    let (among, least) = largest_of(k, numbers);
    let near = _mm256_set1_ps(least.next_down());
    let near = mask(numbers.map(|numbers| _mm256_cmp_ps::<_CMP_GE_OQ>(numbers, near)));
    let among = mask(among);
    let mut left = among;
    for best in &mut best[..k] {
        // Where there are fewer, the last ones are anything.
        *best = positions[left.trailing_zeros() as usize % positions.len()];
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

/// How many entries ahead they are asked for, as what will not be needed again: so they take no place in the caches
/// from coefficients.
const AHEAD: usize = 512;

/// The k-th largest of some numbers.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn kth_largest<const REGISTERS: usize>(k: usize, numbers: [__m256; REGISTERS]) -> f32 {
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

/// Where the words of eight codes are.
///
/// Codes are read one by one, and the compiler is kept from taking them apart out of a vector: a load that nothing waits for
/// costs less than that.
///
/// # Safety
/// The processor has the instructions; eight codes can be read; there is a word for every code.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
unsafe fn places<W>(words: &[W], codes: *const u16) -> [*const W; 8] {
    // SAFETY: promised by the caller.
    std::array::from_fn(|lane| unsafe { words.as_ptr().add(codes.add(lane).read_volatile().into()) })
}

/// # Safety
/// The processor has the instructions; `columns` are a multiple of sixteen, and the others not fewer.
#[target_feature(enable = "avx2,fma,popcnt")]
unsafe fn score_few(
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
unsafe fn score_eight(places: [*const u64; 8], values: __m256) -> __m256 {
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
unsafe fn halves([a, b, c, d, e, f, g, h]: [*const u64; 8]) -> (__m256, __m256) {
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

impl Eight for Singles<'_> {
    #[target_feature(enable = "avx2,fma,popcnt")]
    #[inline]
    unsafe fn eight(&self, codes: *const u16, values: *const f32) -> (__m256, __m256) {
        // SAFETY: as promised by the caller.
        let scores = unsafe { score_eight(places(self.0, codes), _mm256_loadu_ps(values)) };
        (scores, scores)
    }
}

impl Eight for Bounds<'_> {
    #[inline(always)]
    fn ask(&mut self) {
        self.early.bring_some();
    }

    #[inline(always)]
    fn ask_rest(self) {
        self.early.bring_rest();
    }

    /// What no column of their codes scores above, and below.
    #[target_feature(enable = "avx2,fma,popcnt")]
    #[inline]
    unsafe fn eight(&self, codes: *const u16, values: *const f32) -> (__m256, __m256) {
        // SAFETY: as promised by the caller.
        let ((up, down), values) = unsafe { (halves(places(self.bounds, codes)), _mm256_loadu_ps(values)) };
        let score = |both: __m256| {
            let slopes = _mm256_and_ps(both, _mm256_castsi256_ps(_mm256_set1_epi32(0xffff_0000_u32 as i32)));
            let intercepts = _mm256_slli_epi32::<16>(_mm256_castps_si256(both));
            _mm256_fmadd_ps(slopes, values, _mm256_castsi256_ps(intercepts))
        };
        (score(up), score(down))
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

/// All of them are looked at, without a branch: the compiler makes vectors of that.
#[target_feature(enable = "avx2,fma,popcnt")]
fn contains(codes: &[u16], code: u16) -> bool {
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
/// # Safety
/// The processor has the instructions; there is room for eight positions more than scores.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
unsafe fn find(scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
    let least = _mm256_set1_ps(threshold);
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
