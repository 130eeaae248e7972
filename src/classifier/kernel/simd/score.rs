//! Scores of the entries of a row.

use super::{Simd, Words};
use crate::classifier::kernel::{GROUP, Maxima, maxima_count};

/// A way to score entries whose coefficients are looked up by a `Code`.
pub trait Scorer: Copy {
    type Code;

    /// Scores a vector of entries. Returns the scores to store, and lower bounds of the single scores.
    ///
    /// # Safety
    /// A vector of codes and one of values can be read.
    unsafe fn score<S: Simd>(
        self,
        simd: S,
        codes: *const Self::Code,
        values: *const f32,
    ) -> (S::Floats, S::Floats);
}

/// Single scores of columns with their own codes.
#[derive(Clone, Copy)]
pub struct SingleScores<'t>(pub &'t Words);

impl Scorer for SingleScores<'_> {
    type Code = u16;

    #[inline(always)]
    unsafe fn score<S: Simd>(self, simd: S, codes: *const u16, values: *const f32) -> (S::Floats, S::Floats) {
        // SAFETY: the caller promises codes and values.
        let ((slopes, intercepts), values) = unsafe { (simd.look_up(self.0, codes), simd.load(values)) };
        // Rounded once, which is monotone.
        let scores = simd.multiply_add(slopes, values, intercepts);
        (scores, scores)
    }
}

/// Upper and lower bounds of the scores of all columns of a code.
#[derive(Clone, Copy)]
pub struct ScoreBounds<'t>(pub &'t Words);

impl Scorer for ScoreBounds<'_> {
    type Code = u16;

    #[inline(always)]
    unsafe fn score<S: Simd>(self, simd: S, codes: *const u16, values: *const f32) -> (S::Floats, S::Floats) {
        // SAFETY: the caller promises codes and values.
        let ((upper, lower), values) = unsafe { (simd.look_up(self.0, codes), simd.load(values)) };
        let (upper, lower) = (simd.unpack_halves(upper), simd.unpack_halves(lower));
        (simd.multiply_add(upper.0, values, upper.1), simd.multiply_add(lower.0, values, lower.1))
    }
}

/// Single scores of any columns.
#[derive(Clone, Copy)]
pub struct ColumnScores<'t>(pub &'t [u64]);

impl Scorer for ColumnScores<'_> {
    type Code = u32;

    /// # Panics
    /// If a column has no word.
    #[inline(always)]
    unsafe fn score<S: Simd>(
        self,
        simd: S,
        columns: *const u32,
        values: *const f32,
    ) -> (S::Floats, S::Floats) {
        // SAFETY: the caller promises columns and values; the columns are checked before they are looked up.
        let ((slopes, intercepts), values) = unsafe {
            let last = (self.0.len() - 1) as u32;
            assert!(simd.all_at_most(simd.load_ints(columns), last), "every column has coefficients");
            (simd.look_up_columns(self.0, columns), simd.load(values))
        };
        let scores = simd.multiply_add(slopes, values, intercepts);
        (scores, scores)
    }
}

/// Scores the first `length` entries, with minus infinity behind them up to a multiple of [`GROUP`]. `maxima` is then for
/// [`kth_of_maxima`](super::largest::kth_of_maxima).
///
/// # Panics
/// If one of the slices is shorter than that multiple.
#[inline(always)]
pub fn score<S: Simd, E: Scorer>(
    simd: S,
    scorer: E,
    entries: (&[E::Code], &[f32]),
    length: usize,
    k: usize,
    scores: &mut [f32],
    maxima: &mut Maxima,
) {
    let whole = length.next_multiple_of(GROUP);
    assert!(entries.0.len().min(entries.1.len()).min(scores.len()) >= whole, "whole groups of entries");
    // SAFETY: the lengths have been checked.
    unsafe {
        match maxima_count(k) / S::LANES {
            1 => score_with::<S, E, 1>(simd, scorer, entries, length, scores, maxima),
            2 => score_with::<S, E, 2>(simd, scorer, entries, length, scores, maxima),
            _ => score_with::<S, E, 4>(simd, scorer, entries, length, scores, maxima),
        }
    }
}

/// The distance of prefetching, in entries.
const PREFETCH_DISTANCE: usize = 512;

/// Scores with that many registers of maxima.
///
/// # Safety
/// All slices have `length` elements, rounded up to a multiple of [`GROUP`].
#[inline(always)]
unsafe fn score_with<S: Simd, E: Scorer, const REGISTERS: usize>(
    simd: S,
    scorer: E,
    (codes, values): (&[E::Code], &[f32]),
    length: usize,
    scores: &mut [f32],
    maxima: &mut Maxima,
) {
    let (codes, values, out) = (codes.as_ptr(), values.as_ptr(), scores.as_mut_ptr());
    let prefetch = |at: usize| {
        simd.prefetch_stream(values.wrapping_add(at + PREFETCH_DISTANCE).cast());
        simd.prefetch_stream(codes.wrapping_add(at + PREFETCH_DISTANCE).cast());
    };
    let nothing = simd.splat(f32::NEG_INFINITY);
    let mut largest = [nothing; REGISTERS];
    let whole = length - length % (S::LANES * REGISTERS);
    let mut at = 0;
    // SAFETY: a vector from `at` on ends within the promised lengths.
    unsafe {
        while at < whole {
            for group in largest.chunks_exact_mut(GROUP / S::LANES) {
                prefetch(at);
                for largest in group {
                    let (some, least) = scorer.score(simd, codes.add(at), values.add(at));
                    simd.store(out.add(at), some);
                    *largest = simd.max(*largest, least);
                    at += S::LANES;
                }
            }
        }
        while at < length {
            prefetch(at);
            let inside = simd.first_lanes(length - at);
            let (some, least) = scorer.score(simd, codes.add(at), values.add(at));
            simd.store(out.add(at), simd.select(inside, some, nothing));
            // Any register will do; taking turns is faster.
            largest[0] = simd.max(largest[0], simd.select(inside, least, nothing));
            largest.rotate_left(1);
            at += S::LANES;
        }
        while !at.is_multiple_of(GROUP) {
            simd.store(out.add(at), nothing);
            at += S::LANES;
        }
    }
    for (&largest, maxima) in largest.iter().zip(maxima.chunks_exact_mut(S::LANES)) {
        // SAFETY: a chunk is a vector.
        unsafe { simd.store(maxima.as_mut_ptr(), largest) };
    }
}
