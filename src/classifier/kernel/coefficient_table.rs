//! The coefficients of a rule, laid out for look-ups.

use rayon::prelude::*;

use crate::buffers::ZeroedArray;
use crate::shard::{Code, Column, ColumnCoding};

/// Slope and intercept of every column in one word, so that a look-up causes one cache miss, not two.
///
/// Every code has a word, so that it needs no check before a look-up.
pub struct CoefficientTable {
    pub(super) words: ZeroedArray<u64>,
    /// If columns share codes, bounds of the coefficients of each code; otherwise empty. They fit the cache of a core, unlike the
    /// words.
    pub(super) bounds: ZeroedArray<u64>,
    pub(super) coding: ColumnCoding,
    /// The first of the columns that the last [`CoefficientTable::fill`] gave the same coefficients.
    uniform_from: Option<usize>,
    /// Whether `bounds` are valid, which very large coefficients prevent.
    bounds_valid: bool,
}

/// The kind of scores in a [`RowScratch`](super::RowScratch).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreKind {
    /// The single score of each entry.
    Single,
    /// Upper bounds of the single scores, which those may exceed by one step of f32.
    Bound,
}

/// The upper half of a single, rounded up.
fn round_up_to_16_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    // Truncation rounds towards zero, which is up for negative numbers only.
    let up = if value > 0.0 { bits + 0xffff } else { bits };
    (up >> 16) as u16
}

/// Slope and intercept of 16 bits each.
fn unpack_halves(both: u32) -> (f32, f32) {
    (f32::from_bits(both & 0xffff_0000), f32::from_bits(both << 16))
}

/// Columns and codes that a thread fills in at a time.
const CHUNK_COLUMNS: usize = 1 << 16;
const CHUNK_CODES: usize = ColumnCoding::CODES / 64;

/// The limit of coefficients with bounds: rounding up and products of rounded numbers stay far from infinity.
const MAX_BOUNDED: f32 = 1e30;

/// Writes the words of columns from `first` on. Returns the largest magnitude of a coefficient.
fn fill(words: &mut [u64], first: usize, pair: &impl Fn(usize) -> (f32, f32)) -> f32 {
    let mut largest = 0f32;
    for (column, word) in words.iter_mut().enumerate() {
        let (slope, intercept) = pair(first + column);
        largest = largest.max(slope.abs()).max(intercept.abs());
        *word = u64::from(slope.to_bits()) | u64::from(intercept.to_bits()) << 32;
    }
    largest
}

fn fill_bounds(bounds: &mut [u64], first: usize, words: &[u64], coding: ColumnCoding) {
    for (code, bound) in (first..).zip(bounds) {
        *bound = bound_columns(words, coding.columns_of_code(Code(code as u16)));
    }
}

impl CoefficientTable {
    /// A table of zeros for `columns` columns.
    pub fn new(columns: usize, coding: ColumnCoding) -> CoefficientTable {
        CoefficientTable {
            words: ZeroedArray::new(columns.max(ColumnCoding::CODES)),
            bounds: ZeroedArray::new(if coding.has_shared_codes() { ColumnCoding::CODES } else { 0 }),
            coding,
            uniform_from: None,
            bounds_valid: true,
        }
    }

    /// Sets slopes and intercepts: those of the first `different` columns by `pair`, and the others of the first `columns`
    /// to `rest`, which must be the same in every call.
    pub fn fill(
        &mut self,
        different: usize,
        pair: impl Fn(usize) -> (f32, f32) + Sync,
        columns: usize,
        rest: (f32, f32),
    ) {
        // The rest is the majority of millions of labels, and in place after the first call.
        let in_place = self.uniform_from.replace(different) == Some(different);
        let (first, others) = self.words[..columns].split_at_mut(different);
        if !in_place {
            others.par_chunks_mut(CHUNK_COLUMNS).for_each(|words| _ = fill(words, 0, &|_| rest));
        }
        if columns <= CHUNK_COLUMNS {
            self.bounds_valid = fill(first, 0, &pair) < MAX_BOUNDED;
            return fill_bounds(&mut self.bounds, 0, &self.words[..columns], self.coding);
        }
        let words = first.par_chunks_mut(CHUNK_COLUMNS).enumerate();
        let largest =
            words.map(|(at, words)| fill(words, at * CHUNK_COLUMNS, &pair)).reduce(|| 0.0, f32::max);
        self.bounds_valid = largest < MAX_BOUNDED;
        if self.score_kind() == ScoreKind::Bound {
            let (words, coding) = (&self.words[..columns], self.coding);
            let codes = match different.checked_sub(1) {
                Some(last) if in_place => coding.code(Column(last as u32)).index() + 1,
                _ => ColumnCoding::CODES,
            };
            let bounds = self.bounds[..codes].par_chunks_mut(CHUNK_CODES).enumerate();
            bounds.for_each(|(at, bounds)| fill_bounds(bounds, at * CHUNK_CODES, words, coding));
        } else {
            // The bounds are out of date.
            self.uniform_from = None;
        }
    }

    /// Fills in all columns without other threads.
    pub(super) fn fill_on_this_thread(&mut self, columns: usize, pair: impl Fn(usize) -> (f32, f32)) {
        let words = &mut self.words[..columns];
        self.uniform_from = None;
        self.bounds_valid = fill(words, 0, &pair) < MAX_BOUNDED;
        fill_bounds(&mut self.bounds, 0, &self.words[..columns], self.coding);
    }

    pub fn columns(&self) -> usize {
        self.words.len()
    }

    /// The kind of scores from scoring.
    #[inline]
    pub fn score_kind(&self) -> ScoreKind {
        if self.bounds_valid && !self.bounds.is_empty() { ScoreKind::Bound } else { ScoreKind::Single }
    }

    /// Whether every column has its own code.
    pub(super) fn has_own_codes(&self) -> bool {
        self.bounds.is_empty()
    }

    #[inline]
    pub fn coefficients(&self, column: usize) -> (f32, f32) {
        let word = self.words[column];
        (f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32))
    }

    /// Upper and lower bounds of the slopes and intercepts of all columns of a code.
    #[inline]
    pub(super) fn bounds(&self, code: Code) -> [(f32, f32); 2] {
        let both = self.bounds[code.index()];
        [unpack_halves(both as u32), unpack_halves((both >> 32) as u32)]
    }
}

/// Bounds of a range of columns: in the lower half the largest slope and intercept, rounded up to 16 bits each, with the slope
/// in the upper bits; in the upper half the smallest ones, rounded down. Arbitrary for an empty range.
fn bound_columns(words: &[u64], columns: std::ops::Range<usize>) -> u64 {
    let columns = columns.start.min(words.len())..columns.end.min(words.len());
    let mut largest = [f32::NEG_INFINITY; 2];
    // Of the negated coefficients, so that they are rounded up too.
    let mut smallest = [f32::NEG_INFINITY; 2];
    for word in &words[columns] {
        let pair = [f32::from_bits(*word as u32), f32::from_bits((word >> 32) as u32)];
        for (at, coefficient) in pair.into_iter().enumerate() {
            largest[at] = largest[at].max(coefficient);
            smallest[at] = smallest[at].max(-coefficient);
        }
    }
    let [[a, b], [c, d]] =
        [largest.map(round_up_to_16_bits), smallest.map(|number| round_up_to_16_bits(number) ^ 0x8000)];
    let half = |slope: u16, intercept: u16| u64::from(slope) << 16 | u64::from(intercept);
    half(c, d) << 32 | half(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_up_never_goes_down_and_hardly_up() {
        for value in [0.0f32, -0.0, 1.0, -1.0, 0.1, -0.1, 1e-40, -1e-40, 1.0 + f32::EPSILON, -1e30, 9.9e29] {
            let up = f32::from_bits(u32::from(round_up_to_16_bits(value)) << 16);
            assert!(up >= value && up <= value + value.abs() / 127.0 + 1e-38, "{value} {up}");
        }
    }

    #[test]
    fn every_column_is_within_the_bounds_of_its_code() {
        let labels = 200_000;
        let coding = ColumnCoding::new(labels);
        let pair = |column: usize| ((column % 977) as f32 - 300.0, 0.01 * (column % 1013) as f32 - 5.0);
        let mut table = CoefficientTable::new(labels, coding);
        table.fill(labels, pair, labels, (0.0, 0.0));
        assert_eq!(table.score_kind(), ScoreKind::Bound);
        for column in 0..labels {
            let [up, down] = table.bounds(coding.code(Column(column as u32)));
            assert!(up.0 >= pair(column).0 && up.1 >= pair(column).1, "column {column}");
            assert!(down.0 <= pair(column).0 && down.1 <= pair(column).1, "column {column}");
        }
        table.fill(labels, |_| (1e31, 0.0), labels, (0.0, 0.0));
        assert_eq!(table.score_kind(), ScoreKind::Single);
    }
}
