//! Kernels made of vector instructions, written once for all vector lengths.
//!
//! A type that implements [`Simd`] stands for the instructions of one kind of processor. Everything written in terms of it is
//! `#[inline(always)]`: the compiler may use those instructions only inside [`Simd::run`], and elsewhere each would become a call.

#![allow(unsafe_code)]

/// Methods whose bodies may use instructions that `self` proves the processor to have.
macro_rules! methods {
    ($($(#[$attribute:meta])* $visibility:vis fn $name:ident($self:ident $(, $argument:ident: $of:ty)*) -> $result:ty
        { $($body:tt)* })*) => {$(
        $(#[$attribute])*
        #[inline(always)]
        $visibility fn $name($self $(, $argument: $of)*) -> $result {
            // SAFETY: the processor has the instructions.
            unsafe { $($body)* }
        }
    )*};
    ($($(#[$attribute:meta])* unsafe fn $name:ident($self:ident $(, $argument:ident: $of:ty)*) -> $result:ty
        { $($body:tt)* })*) => {$(
        $(#[$attribute])*
        #[inline(always)]
        unsafe fn $name($self $(, $argument: $of)*) -> $result {
            // SAFETY: the processor has the instructions; the caller promises the rest.
            unsafe { $($body)* }
        }
    )*};
}

mod avx2;
mod avx512;
mod find;
mod gather_timing;
mod largest;
mod score;
mod short_list;

pub use self::avx2::Avx2;
pub use self::avx512::{Avx512, detect_avx512};

use self::score::{ColumnScores, ScoreBounds, SingleScores};
use super::shared_codes::ShortList;
use super::{CoefficientTable, MAX_BOUNDED_K, Maxima, Operations, ScoreKind, THRESHOLDS};
use crate::shard::{ColumnCoding, Row};

/// Instructions on vectors of 32-bit lanes. A value of the type proves that the processor has them.
pub trait Simd: Copy {
    type Floats: Copy;
    type Ints: Copy;
    type Mask: Copy;

    /// Lanes of a vector; a divisor of [`GROUP`](super::GROUP).
    const LANES: usize;

    /// Whether gather instructions are used. Vectors then have [`GROUP`](super::GROUP) lanes.
    const GATHERS: bool;

    /// Runs a job compiled with the instructions. The job must be `#[inline(always)]`.
    fn run<R>(self, job: impl FnOnce() -> R) -> R;

    /// The instructions for lists that are too short for long vectors.
    fn narrow(self) -> Avx2;

    fn splat(self, number: f32) -> Self::Floats;
    fn splat_int(self, number: u32) -> Self::Ints;
    fn lane_numbers(self) -> Self::Ints;
    fn first_lanes(self, count: usize) -> Self::Mask;
    /// One bit per lane, the first lane in the lowest bit.
    fn bits(self, mask: Self::Mask) -> u32;

    fn multiply_add(self, a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;
    fn min(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    fn max(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    /// `a >= b`
    fn at_least(self, a: Self::Floats, b: Self::Floats) -> Self::Mask;
    /// `a > b`
    fn greater(self, a: Self::Floats, b: Self::Floats) -> Self::Mask;
    fn select(self, mask: Self::Mask, yes: Self::Floats, no: Self::Floats) -> Self::Floats;
    /// The minimum of all lanes.
    fn smallest(self, numbers: Self::Floats) -> f32;

    fn add(self, a: Self::Ints, b: Self::Ints) -> Self::Ints;
    fn subtract(self, a: Self::Ints, b: Self::Ints) -> Self::Ints;
    fn min_int(self, a: Self::Ints, b: Self::Ints) -> Self::Ints;
    fn max_int(self, a: Self::Ints, b: Self::Ints) -> Self::Ints;
    fn shift_left(self, numbers: Self::Ints, bits: u32) -> Self::Ints;
    fn all_at_most(self, numbers: Self::Ints, limit: u32) -> bool;
    /// `a < b`, both signed
    fn less(self, a: Self::Ints, b: Self::Ints) -> Self::Mask;
    fn or_zero(self, mask: Self::Mask, numbers: Self::Ints) -> Self::Ints;
    /// Adds 1 to the counts of the mask.
    fn count_in(self, counts: Self::Ints, mask: Self::Mask) -> Self::Ints;
    /// Moves the numbers of the mask to the front. Behind them is the first number, or 0.
    fn compress(self, mask: Self::Mask, numbers: Self::Ints) -> Self::Ints;

    /// # Safety
    /// A vector can be read.
    unsafe fn load(self, from: *const f32) -> Self::Floats;
    /// # Safety
    /// A vector can be read.
    unsafe fn load_ints(self, from: *const u32) -> Self::Ints;
    /// # Safety
    /// A vector can be written.
    unsafe fn store(self, to: *mut f32, numbers: Self::Floats);
    /// # Safety
    /// A vector can be written.
    unsafe fn store_ints(self, to: *mut u32, numbers: Self::Ints);
    /// Prefetches memory that a pass reads once. Any address is allowed.
    fn prefetch_stream(self, from: *const u8);

    /// Slopes and intercepts, or upper and lower bounds, from the two halves of the words of codes.
    ///
    /// # Safety
    /// A vector of codes can be read.
    unsafe fn look_up(self, words: &Words, codes: *const u16) -> (Self::Floats, Self::Floats);
    /// [`Simd::look_up`] by columns instead of codes.
    ///
    /// # Safety
    /// A vector of columns can be read, and each has a word.
    unsafe fn look_up_columns(self, words: &[u64], columns: *const u32) -> (Self::Floats, Self::Floats);
    /// Slopes and intercepts of 16 bits each.
    fn unpack_halves(self, both: Self::Floats) -> (Self::Floats, Self::Floats);

    /// Finds the entries with bounds from `least` on and makes them the short list, if there are at most [`GROUP`](super::GROUP)
    /// and gather instructions are used. Returns whether it did.
    #[inline(always)]
    fn gather_first(self, _row: Row<'_>, _bounds: &[f32], _least: f32, _short_list: &mut ShortList) -> bool {
        false
    }
}

/// A word for every code, so that looking one up needs no check.
pub type Words = [u64; ColumnCoding::CODES];

fn words(words: &[u64]) -> &Words {
    words.first_chunk::<{ ColumnCoding::CODES }>().expect("a word for every code")
}

impl<S: Simd> Operations for S {
    #[inline(always)]
    fn score(
        self,
        table: &CoefficientTable,
        kind: ScoreKind,
        row: Row<'_>,
        k: usize,
        scores: &mut [f32],
        maxima: &mut Maxima,
    ) {
        let entries = row.padded();
        match kind {
            ScoreKind::Single => {
                score::score(self, SingleScores(words(&table.words)), entries, row.len(), k, scores, maxima)
            }
            ScoreKind::Bound => {
                score::score(self, ScoreBounds(words(&table.bounds)), entries, row.len(), k, scores, maxima)
            }
        }
    }

    #[inline(always)]
    fn score_gathered(
        self,
        table: &CoefficientTable,
        entries: (&[u32], &[f32]),
        length: usize,
        k: usize,
        scores: &mut [f32],
        maxima: &mut Maxima,
    ) {
        score::score(self.narrow(), ColumnScores(&table.words), entries, length, k, scores, maxima);
    }

    #[inline(always)]
    fn kth_of_maxima(self, maxima: &Maxima, k: usize) -> f32 {
        largest::kth_of_maxima(self, maxima, k)
    }

    #[inline(always)]
    fn count(self, scores: &[f32], thresholds: [f32; THRESHOLDS]) -> [usize; THRESHOLDS] {
        find::count(self, scores, thresholds)
    }

    #[inline(always)]
    fn find(self, scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
        find::find(self, scores, threshold, positions)
    }

    #[inline(always)]
    fn pick_top_k(
        self,
        scores: &[f32],
        positions: &[u32],
        found: usize,
        k: usize,
        best: &mut [u32; MAX_BOUNDED_K],
    ) -> Option<f32> {
        largest::pick_top_k(self.narrow(), scores, positions, found, k, best)
    }

    #[inline(always)]
    fn gather_first(self, row: Row<'_>, bounds: &[f32], least: f32, short_list: &mut ShortList) -> bool {
        Simd::gather_first(self, row, bounds, least, short_list)
    }

    #[inline(always)]
    fn gather(self, row: Row<'_>, positions: &[u32], short_list: &mut ShortList) {
        short_list::gather(self.narrow(), row, positions, short_list);
    }

    #[inline(always)]
    fn pick(self, table: &CoefficientTable, short_list: &mut ShortList, k: usize) -> Option<f32> {
        short_list::pick(self, &table.words, short_list, k)
    }
}
