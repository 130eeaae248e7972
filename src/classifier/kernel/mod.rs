//! The innermost loops of a pass: score the stored entries of a row, find which can be among the
//! best k.
//!
//! Everything here works on scores in *single* precision, which only have to be monotone: of two entries the
//! one with the larger exact score never has the smaller single score. Two whose single scores are at least
//! two steps of f32 apart are in the same order exactly, so single precision decides nearly everything, and
//! [`super::select`] looks at what is left in double precision. That is why kernels for different processors,
//! which may round differently, pick the same labels.
//!
//! Beside [`crate::memory`] this is the only place with `unsafe` code. [`scalar`] does the same without.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod coefficient_table;
mod gathered;
mod own_codes;
mod scalar;
mod self_check;
mod shared_codes;

use std::sync::OnceLock;

use crate::shard::{Column, PADDING, Row};

pub use coefficient_table::{CoefficientTable, ScoreKind};
pub use gathered::GatheredEntries;
pub use own_codes::ScoredRow;
pub use shared_codes::RowsScratch;

/// Entries that kernels look at together, at most: rows are scored in multiples of so many.
const LANES: usize = 16;

/// Up to this k, scoring a row gives a useful bound for its k-th largest score: not many more than k entries reach it.
pub const MAX_BOUNDED_K: usize = 20;

/// Of so many entries at most the best k are picked at once.
const MAX_SHORT_LIST: usize = 2 * LANES;

/// Disjoint subsets of a row's entries whose largest scores are kept while scoring, for that bound: at least twice as
/// many as are wanted, for what is bounded.
#[inline]
fn maxima_count(k: usize) -> usize {
    if k <= LANES / 2 { LANES } else { 2 * LANES }
}

/// What everything reaches that exact scores could bring to the k-th place, where at least k reach `bound`: where these are k,
/// the next is a step further down.
#[inline(always)]
pub fn safe_threshold(bound: f32) -> f32 {
    bound.next_down()
}

/// Thresholds that [`Kernel::count`] looks at in one go.
pub const THRESHOLDS: usize = 4;

/// Space for the scores of a row and the positions of the best, reused from row to row.
#[derive(Default)]
pub struct RowScratch {
    /// Single scores from `first` on; those of padding are minus infinity.
    scores: Vec<f32>,
    /// Where a cache line begins, so that no vector lies in two.
    first: usize,
    positions: Vec<u32>,
    found: usize,
    best: [u32; MAX_BOUNDED_K],
}

impl RowScratch {
    /// Makes room for rows of up to `length` entries.
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

    /// The single score of the entry at `position` of the row that was scored last.
    #[inline]
    pub fn score(&self, position: u32) -> f32 {
        self.scores[self.first + position as usize]
    }

    /// What was found last, ascending.
    #[inline]
    pub fn positions(&self) -> &[u32] {
        &self.positions[..self.found]
    }

    /// The best k positions of a row that has [`ScoredRow::Best`], ascending.
    #[inline]
    pub fn best(&self, k: usize) -> &[u32] {
        &self.best[..k]
    }

    /// Only a threshold of minus infinity finds padding, which is last.
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
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
}

impl Kernel {
    /// The fastest that this processor has and that works there, found once.
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

    /// All that this processor has, fastest first. The scalar one is always there.
    pub fn available() -> Vec<Kernel> {
        let mut kernels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            kernels.extend(avx512::Avx512::detect().into_iter().flatten().map(Kernel::Avx512));
            kernels.extend(avx2::Avx2::detect().map(Kernel::Avx2));
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
            Kernel::Avx512(_) => "AVX-512",
        }
    }

    /// Scores a row into `space`; [`CoefficientTable::score_kind`] says what stands there. Returns what at least `k` single scores
    /// reach, minus infinity at worst. For `k` up to [`MAX_BOUNDED_K`] it is close to the k-th largest.
    #[inline]
    pub fn score(self, table: &CoefficientTable, row: Row<'_>, k: usize, space: &mut RowScratch) -> f32 {
        space.reserve(row.len());
        let scores = &mut space.scores[space.first..];
        if table.score_kind() == ScoreKind::Single && !table.has_own_codes() {
            return scalar::score_columns(table, row, k, scores);
        }
        match self {
            Kernel::Scalar => scalar::score(table, row, k, scores),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.score(table, row, k, scores),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.score(table, row, k, scores),
        }
    }

    /// Whether a row has this column, which is in the table.
    #[inline]
    pub fn has_column(self, table: &CoefficientTable, row: Row<'_>, column: Column) -> bool {
        match self {
            _ if !table.has_own_codes() => row.has_column(column),
            Kernel::Scalar => row.has_column(column),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) | Kernel::Avx512(avx512::Avx512 { avx2: kernel, .. }) => {
                kernel.contains(row.codes(), column.0 as u16)
            }
        }
    }

    /// How many of the first `length` scores are at least each of `thresholds`. Those of padding reach
    /// minus infinity only.
    #[inline]
    pub fn count(
        self,
        space: &RowScratch,
        length: usize,
        thresholds: [f32; THRESHOLDS],
    ) -> [usize; THRESHOLDS] {
        let scores = &space.scores[space.first..][..length.next_multiple_of(PADDING)];
        match self {
            Kernel::Scalar => scalar::count(scores, thresholds),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.count(scores, thresholds),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.count(scores, thresholds),
        }
    }

    /// Finds the positions of the first `length` scores that are at least `threshold`;
    /// [`RowScratch::positions`] has them.
    #[inline]
    pub fn find(self, space: &mut RowScratch, length: usize, threshold: f32) {
        let RowScratch { scores, first, positions, .. } = space;
        let scores = &scores[*first..][..length.next_multiple_of(PADDING)];
        space.found = self.find_in(scores, threshold, positions);
        space.drop_padding(length);
    }

    /// Writes the positions of scores that are at least `threshold`. Returns how many there are.
    #[inline]
    fn find_in(self, scores: &[f32], threshold: f32, positions: &mut [u32]) -> usize {
        match self {
            Kernel::Scalar => scalar::find(scores, threshold, positions),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.find(scores, threshold, positions),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.find(scores, threshold, positions),
        }
    }
}
