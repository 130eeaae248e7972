//! The columns of all entries, as a pass reads them.

use std::ops::Range;

use super::blocks::{Blocks, Pieces};
use super::grouping::Grouping;
use super::marginals::PADDING;
use crate::memory::prefetch::look_up;

/// A code for every entry, and where columns share codes what is left to tell them apart.
pub struct Columns {
    grouping: Grouping,
    codes: Vec<u16>,
    rests: Rests<Vec<u8>, Vec<u16>>,
}

/// The rests of all entries, in as few bytes as they take.
enum Rests<B, W> {
    None,
    Bytes(B),
    Words(W),
}

impl Columns {
    /// Zeroed space for `entries` columns below `labels`, and the padding.
    pub(super) fn new(labels: usize, entries: usize) -> Columns {
        let grouping = Grouping::new(labels);
        let rests = match grouping.rest_bits() {
            0 => Rests::None,
            1..=8 => Rests::Bytes(vec![0; entries]),
            _ => Rests::Words(vec![0; entries]),
        };
        Columns { grouping, codes: vec![0; entries + PADDING], rests }
    }

    /// These columns, each below `labels`, and the padding.
    pub fn from_numbers(labels: usize, numbers: &[u32]) -> Columns {
        let mut columns = Columns::new(labels, numbers.len());
        let all = Blocks::new(&[0, numbers.len() as u64]);
        columns.pieces(&all, |rows| rows * numbers.len()).put(0, numbers, None);
        columns
    }

    /// Bytes of one column.
    pub(super) fn width(labels: usize) -> usize {
        match Grouping::new(labels).rest_bits() {
            0 => 2,
            1..=8 => 3,
            _ => 4,
        }
    }

    #[inline]
    pub fn grouping(&self) -> Grouping {
        self.grouping
    }

    /// The codes of all entries, and the padding.
    #[inline]
    pub fn codes(&self) -> &[u16] {
        &self.codes
    }

    /// Brings what tells columns of the same code apart near, for some entries at once: see
    /// [`Hits::read_ahead`](super::Hits::read_ahead).
    pub(super) fn read_ahead(&self, entries: Range<usize>) {
        match &self.rests {
            Rests::None => (),
            Rests::Bytes(rests) => touch(&rests[entries]),
            Rests::Words(rests) => touch(&rests[entries]),
        }
    }

    /// The column of an entry.
    #[inline]
    pub fn get(&self, entry: usize) -> u32 {
        let code = self.codes[entry];
        match &self.rests {
            Rests::None => code.into(),
            Rests::Bytes(rests) => self.grouping.column(code, rests[entry].into()),
            Rests::Words(rests) => self.grouping.column(code, rests[entry]),
        }
    }
}

/// Reads one number of every cache line.
fn touch<T: Copy + Default + std::ops::BitXor<Output = T>>(numbers: &[T]) {
    const CACHE_LINE: usize = 64;
    let some = numbers.iter().step_by(CACHE_LINE / size_of::<T>());
    std::hint::black_box(some.fold(T::default(), |all, &number| all ^ number));
}

impl Columns {
    /// Tells `tell` the columns of the entries at `positions` of a range, each with one of `others`.
    #[inline]
    pub(super) fn each<T>(
        &self,
        range: Range<usize>,
        positions: &[u32],
        others: impl Iterator<Item = T>,
        mut tell: impl FnMut(u32, u32, T),
    ) {
        let codes = &self.codes[range.clone()];
        let positions = positions.iter().zip(others);
        // Which kind of rests there are is asked once, not for every entry.
        match &self.rests {
            Rests::None => {
                positions.for_each(|(&at, other)| tell(codes[at as usize].into(), at, other));
            }
            Rests::Bytes(rests) => {
                let rests = &rests[range];
                positions.for_each(|(&at, other)| {
                    let column = self.grouping.column(codes[at as usize], rests[at as usize].into());
                    tell(column, at, other);
                });
            }
            Rests::Words(rests) => {
                let rests = &rests[range];
                positions.for_each(|(&at, other)| {
                    let column = self.grouping.column(codes[at as usize], rests[at as usize]);
                    tell(column, at, other);
                });
            }
        }
    }
}

/// The columns of blocks of rows, each to be filled in by whoever takes that block.
pub(super) struct ColumnPieces<'c> {
    grouping: Grouping,
    codes: Pieces<'c, u16>,
    rests: Rests<Pieces<'c, u8>, Pieces<'c, u16>>,
}

impl Columns {
    /// Cut into blocks; `end` is the first entry behind a number of rows.
    pub(super) fn pieces(&mut self, blocks: &Blocks, end: impl Fn(usize) -> usize) -> ColumnPieces<'_> {
        ColumnPieces {
            grouping: self.grouping,
            codes: blocks.pieces(&mut self.codes, &end),
            rests: match &mut self.rests {
                Rests::None => Rests::None,
                Rests::Bytes(rests) => Rests::Bytes(blocks.pieces(rests, &end)),
                Rests::Words(rests) => Rests::Words(blocks.pieces(rests, &end)),
            },
        }
    }
}

impl ColumnPieces<'_> {
    /// Writes the columns of a block from its labels; `columns_of` has the column of every label, where that is
    /// not the label itself.
    pub(super) fn put(&self, block: usize, labels: &[u32], columns_of: Option<&[u32]>) {
        match columns_of {
            None => self.put_columns(block, labels.iter().copied()),
            Some(columns_of) => self.put_columns(block, look_up(columns_of, labels)),
        }
    }

    fn put_columns(&self, block: usize, columns: impl Iterator<Item = u32>) {
        let grouping = self.grouping;
        self.codes.with_new(block, |codes| {
            let entries = codes.iter_mut().zip(columns);
            match &self.rests {
                Rests::None => entries.for_each(|(code, column)| *code = column as u16),
                Rests::Bytes(rests) => rests.with_new(block, |rests| {
                    for ((code, column), rest) in entries.zip(rests) {
                        (*code, *rest) = (grouping.code(column), grouping.rest(column) as u8);
                    }
                }),
                Rests::Words(rests) => rests.with_new(block, |rests| {
                    for ((code, column), rest) in entries.zip(rests) {
                        (*code, *rest) = (grouping.code(column), grouping.rest(column));
                    }
                }),
            }
        });
    }
}
