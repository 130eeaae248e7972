//! The innermost loops of a pass: they score the stored entries of a row and find those that could be among the best k.
//!
//! Scores are in *single* precision here and only have to be monotone: of two entries, the one with the larger exact score
//! never has the smaller single score. Entries whose single scores are at least two steps of f32 apart have the same order
//! exactly, so single precision decides nearly everything, and [`super::select`] decides the rest in double precision.
//! Therefore kernels for different processors, which may round differently, pick the same labels.
//!
//! Besides [`crate::buffers`], only this module has `unsafe` code. [`scalar`] does the same without it.
//!
//! To add a vector kernel, implement `simd::Simd` for a type that only its detection can create, and add it to [`Kernel`],
//! `dispatch!` and [`Kernel::available`]. The equivalence tests then cover it on processors that have the instructions.

/// Evaluates an expression with the [`Operations`] of a kernel, compiled for its instructions.
macro_rules! dispatch {
    ($kernel:expr, $operations:tt => $result:expr) => {
        match $kernel {
            Kernel::Scalar => {
                let $operations = crate::classifier::kernel::scalar::Scalar;
                $result
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(simd) => dispatch!(in simd, $operations => $result),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(simd) => dispatch!(in simd, $operations => $result),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Gathers(simd) => dispatch!(in simd, $operations => $result),
        }
    };
    (in $simd:ident, $operations:tt => $result:expr) => {
        crate::classifier::kernel::simd::Simd::run(
            $simd,
            #[inline(always)]
            || {
                let $operations = $simd;
                $result
            },
        )
    };
}

mod coefficient_table;
mod gathered;
mod operations;
mod own_codes;
mod scalar;
mod self_check;
mod shared_codes;
#[cfg(target_arch = "x86_64")]
mod simd;

use std::sync::OnceLock;

use self::operations::{Maxima, Operations, maxima_count};
use self::scalar::Scalar;
use crate::shard::{Column, PADDING, Row};

pub use coefficient_table::{CoefficientTable, ScoreKind};
pub use gathered::GatheredEntries;
pub use own_codes::ScoredRow;
pub use shared_codes::RowsScratch;

/// Rows are scored in multiples of this many entries.
const GROUP: usize = PADDING;

/// The largest k for which scoring a row gives a useful bound of its k-th largest score, which few more than k entries
/// reach.
pub const MAX_BOUNDED_K: usize = 20;

/// The largest number of entries from which the best k are picked in registers.
const MAX_SHORT_LIST: usize = 2 * GROUP;

/// A threshold that all entries reach whose exact scores could be among the best k, if at least k single scores reach `bound`.
/// Exact scores may differ where single scores are equal or one step apart.
#[inline(always)]
pub fn safe_threshold(bound: f32) -> f32 {
    bound.next_down()
}

/// The number of thresholds of [`Kernel::count`].
pub const THRESHOLDS: usize = 4;

/// Reusable space for the scores of a row and the positions of the best.
#[derive(Default)]
pub struct RowScratch {
    /// Single scores from `first` on; those of padding are minus infinity.
    scores: Vec<f32>,
    /// The start of a cache line, so that no vector crosses one.
    first: usize,
    positions: Vec<u32>,
    found: usize,
    best: [u32; MAX_BOUNDED_K],
}

impl RowScratch {
    /// Grows to hold rows of up to `length` entries.
    #[inline]
    fn reserve(&mut self, length: usize) {
        if self.positions.len() < length + 2 * PADDING {
            self.grow(length + 2 * PADDING);
        }
    }

    #[cold]
    fn grow(&mut self, needed: usize) {
        self.scores = vec![f32::NEG_INFINITY; needed + PADDING];
        self.first = self.scores.as_ptr().align_offset(size_of::<[f32; PADDING]>()).min(PADDING);
        self.positions.resize(needed, 0);
    }

    /// The single score of the entry at `position` of the row scored last.
    #[inline]
    pub fn score(&self, position: u32) -> f32 {
        self.scores[self.first + position as usize]
    }

    /// The positions found last, ascending.
    #[inline]
    pub fn positions(&self) -> &[u32] {
        &self.positions[..self.found]
    }

    /// The best k positions of a row that has [`ScoredRow::Best`], ascending.
    #[inline]
    pub fn best(&self, k: usize) -> &[u32] {
        &self.best[..k]
    }

    /// Removes positions of padding, which come last. Only a threshold of minus infinity finds any.
    fn drop_padding(&mut self, length: usize) {
        while self.found > 0 && self.positions[self.found - 1] as usize >= length {
            self.found -= 1;
        }
    }
}

/// The instructions to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(simd::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(simd::Avx512<false>),
    #[cfg(target_arch = "x86_64")]
    Avx512Gathers(simd::Avx512<true>),
}

impl Kernel {
    /// The fastest kernel that works on this processor. It is determined once.
    pub fn fastest() -> Kernel {
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| {
            let works = |kernel: &Kernel| {
                let works = self_check::matches_scalar(*kernel);
                if !works {
                    tracing::warn!(kernel = kernel.name(), "gives wrong results on this processor; not used");
                }
                works
            };
            Kernel::available().into_iter().find(works).unwrap_or(Kernel::Scalar)
        })
    }

    /// All kernels whose instructions this processor has, fastest first and the scalar one last.
    pub fn available() -> Vec<Kernel> {
        let mut kernels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            kernels.extend(simd::detect_avx512().into_iter().flatten());
            kernels.extend(simd::Avx2::detect().map(Kernel::Avx2));
        }
        kernels.push(Kernel::Scalar);
        kernels
    }

    pub fn name(self) -> &'static str {
        match self {
            Kernel::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(_) => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(_) | Kernel::Avx512Gathers(_) => "AVX-512",
        }
    }

    /// Scores a row into `space`, by [`CoefficientTable::score_kind`]. Returns a number that at least `k` single scores
    /// reach, minus infinity at worst. For `k` up to [`MAX_BOUNDED_K`] it is close to the k-th largest.
    #[inline]
    pub fn score(self, table: &CoefficientTable, row: Row<'_>, k: usize, space: &mut RowScratch) -> f32 {
        space.reserve(row.len());
        let scores = &mut space.scores[space.first..];
        let mut maxima = [0.0; 2 * GROUP];
        let kind = table.score_kind();
        if kind == ScoreKind::Single && !table.has_own_codes() {
            scalar::score_columns(table, row, k, scores, &mut maxima);
            return Scalar.kth_of_maxima(&maxima, k);
        }
        dispatch!(self, operations => {
            operations.score(table, kind, row, k, scores, &mut maxima);
            operations.kth_of_maxima(&maxima, k)
        })
    }

    /// Whether a row has an entry of this column.
    #[inline]
    pub fn has_column(self, row: Row<'_>, column: Column) -> bool {
        dispatch!(self, _ => row.has_column(column))
    }

    /// The number of the first `length` scores that reach each threshold. Padding reaches minus infinity only.
    #[inline]
    pub fn count(
        self,
        space: &RowScratch,
        length: usize,
        thresholds: [f32; THRESHOLDS],
    ) -> [usize; THRESHOLDS] {
        let scores = &space.scores[space.first..][..length.next_multiple_of(GROUP)];
        dispatch!(self, operations => operations.count(scores, thresholds))
    }

    /// Finds the positions of the first `length` scores that reach `threshold`, for [`RowScratch::positions`].
    #[inline]
    pub fn find(self, space: &mut RowScratch, length: usize, threshold: f32) {
        let RowScratch { scores, first, positions, .. } = space;
        let scores = &scores[*first..][..length.next_multiple_of(GROUP)];
        space.found = self.find_in(scores, threshold, positions);
        space.drop_padding(length);
    }

    /// Writes the positions of scores that reach `threshold` and returns their number.
    #[inline]
    fn find_in(self, scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
        dispatch!(self, operations => operations.find(scores, threshold, positions))
    }
}
