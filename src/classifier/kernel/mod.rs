//! The innermost loops of a pass: score the stored entries of a row, find which can be among the
//! best k.
//!
//! Everything here works on scores in *single* precision, which only have to be monotone: of two entries the
//! one with the larger exact score never has the smaller single score. Two whose single scores are at least
//! two steps of f32 apart are in the same order exactly, so single precision decides nearly everything, and
//! [`super::select`] looks at what is left in double precision. That is why kernels for different processors,
//! which may round differently, pick the same labels.
//!
//! This is the only place with `unsafe` code. [`scalar`] does the same without.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod check;
mod scalar;

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::memory::Zeroed;
use crate::shard::{Column, Columns, Entries, PADDING};

/// Disjoint subsets of a row's entries whose largest scores are kept while scoring.
const LANES: usize = 16;

/// Up to this k the k-th largest of those is a useful bound: not many more than k entries reach it.
pub const BOUNDED: usize = LANES / 2;

/// Thresholds that [`Kernel::count`] looks at in one go.
pub const PROBES: usize = 4;

/// Slope and intercept of every label, side by side in one word: one cache miss a label, not two.
///
/// There are words for every column that fits 16 bits, so that those need no check before a look-up.
pub struct Table {
    words: Zeroed<u64>,
    /// With very many labels, both also rounded up to 16 bits, the slope in the upper half: more of them stay
    /// in the caches. Otherwise empty.
    rounded: Zeroed<u32>,
}

/// From this number of labels on their coefficients are rounded, too: then the cache of a core is too small for
/// all of them.
pub const ROUNDED: usize = 1 << 17;

/// What rounding a coefficient to 16 bits changes at most, as a share of the result, and a little more.
const ROUNDING: f32 = 1.02 / 128.0;

/// The smallest number of 16 bits that is not below `value`: the upper half of a single.
fn round_up(value: f32) -> u16 {
    let bits = value.to_bits();
    // Cutting bits off moves towards zero, which is up only for what is below it.
    let up = if value > 0.0 { bits + 0xffff } else { bits };
    (up >> 16) as u16
}

/// Both coefficients of a word, rounded up.
fn round_both(word: u64) -> u32 {
    let (slope, intercept) = pair_of(word);
    u32::from(round_up(slope)) << 16 | u32::from(round_up(intercept))
}

impl Table {
    /// `pair` gives slope and intercept of each of `columns` columns.
    pub fn new(columns: usize, pair: impl Fn(usize) -> (f32, f32) + Sync) -> Table {
        let fill = |first: usize, words: &mut [u64]| {
            for (column, word) in words.iter_mut().enumerate() {
                let (slope, intercept) = pair(first + column);
                *word = u64::from(slope.to_bits()) | u64::from(intercept.to_bits()) << 32;
            }
        };
        let mut words = Zeroed::new(columns.max(Columns::NARROW));
        if columns <= Columns::NARROW {
            fill(0, &mut words[..columns]);
        } else {
            let size = Columns::NARROW;
            words.par_chunks_mut(size).enumerate().for_each(|(at, words)| fill(at * size, words));
        }
        let mut table = Table { words, rounded: Zeroed::new(0) };
        // Far from where rounding up or a product of rounded numbers would leave the range of singles.
        let tame = |word: &u64| {
            let (slope, intercept) = pair_of(*word);
            slope.abs() < 1e30 && intercept.abs() < 1e30
        };
        if columns >= ROUNDED && table.words.par_iter().all(tame) {
            table.rounded = Zeroed::new(columns);
            let words = table.words.par_iter();
            table.rounded.par_iter_mut().zip(words).for_each(|(to, &word)| *to = round_both(word));
        }
        table
    }

    /// How many columns have a place, if not a label.
    pub fn columns(&self) -> usize {
        self.words.len()
    }

    /// Whether [`Kernel::bound`] can be used.
    pub fn is_rounded(&self) -> bool {
        !self.rounded.is_empty()
    }

    /// Slope and intercept of a label.
    #[inline]
    pub fn pair(&self, label: usize) -> (f32, f32) {
        pair_of(self.words[label])
    }
}

/// Slope and intercept in one word.
fn pair_of(word: u64) -> (f32, f32) {
    (f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32))
}

/// Space for the scores of a row and the positions of the best, reused from row to row.
#[derive(Default)]
pub struct Space {
    /// Single scores from `first` on; those of padding are minus infinity.
    scores: Vec<f32>,
    /// Where a cache line begins, so that no vector lies in two.
    first: usize,
    positions: Vec<u32>,
    found: usize,
}

impl Space {
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

    /// Replaces the bounds of the entries that were found by their scores.
    pub fn refine<C: Column>(&mut self, table: &Table, row: Entries<'_, C>) {
        let (columns, values) = (row.columns(), row.values());
        for &position in &self.positions[..self.found] {
            let at = position as usize;
            self.scores[self.first + at] = scalar::single(table.pair(columns[at].index()), values[at]);
        }
    }

    /// What [`Kernel::find`] found, ascending.
    #[inline]
    pub fn positions(&self) -> &[u32] {
        &self.positions[..self.found]
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
    pub fn best() -> Kernel {
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| {
            let works = |kernel: &Kernel| {
                let works = check::works(*kernel);
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
            kernels.extend(avx512::Avx512::detect().map(Kernel::Avx512));
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

    /// Scores a row into `space`. Returns a score that at least `k` entries reach, minus infinity at
    /// worst; for `k` up to [`BOUNDED`] it is close to the k-th largest.
    ///
    /// # Panics
    /// When a column of the row, or of the padding behind it, has no pair in `table`.
    #[inline]
    pub fn score<C: Column>(self, table: &Table, row: Entries<'_, C>, k: usize, space: &mut Space) -> f32 {
        space.reserve(row.len());
        let scores = &mut space.scores[space.first..];
        match self {
            Kernel::Scalar => scalar::score(table, row, k, scores),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.score(table, row, k, scores),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.score(table, row, k, scores),
        }
    }

    /// The same with rounded coefficients: scores are bounds that exact ones are not above. What they say is
    /// nevertheless true of exact ones: at least `k` reach what is returned. `None` where there are no such
    /// instructions.
    ///
    /// # Panics
    /// When a column of the row, or of the padding behind it, has no rounded pair in `table`.
    #[inline]
    pub fn bound<C: Column>(
        self,
        table: &Table,
        row: Entries<'_, C>,
        k: usize,
        space: &mut Space,
    ) -> Option<f32> {
        match self {
            Kernel::Scalar => None,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) | Kernel::Avx512(avx512::Avx512 { avx2: kernel }) => {
                space.reserve(row.len());
                Some(kernel.bound(table, row, k, &mut space.scores[space.first..]))
            }
        }
    }

    /// How many of the first `length` scores are at least each of `thresholds`. Those of padding reach
    /// minus infinity only.
    #[inline]
    pub fn count(self, space: &Space, length: usize, thresholds: [f32; PROBES]) -> [usize; PROBES] {
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
    /// [`Space::positions`] has them.
    #[inline]
    pub fn find(self, space: &mut Space, length: usize, threshold: f32) {
        let Space { scores, first, positions, .. } = space;
        let scores = &scores[*first..][..length.next_multiple_of(PADDING)];
        let mut found = match self {
            Kernel::Scalar => scalar::find(scores, threshold, positions),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => kernel.find(scores, threshold, positions),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => kernel.find(scores, threshold, positions),
        };
        // Only a threshold of minus infinity finds padding, which is last.
        while found > 0 && positions[found - 1] as usize >= length {
            found -= 1;
        }
        space.found = found;
    }
}
