//! The columns of all entries, as a pass reads them.

use std::ops::Range;

use super::blocks::{Blocks, Pieces};
use super::grouping::Grouping;
use super::marginals::PADDING;
use crate::buffers::{Zeroed, prefetch::look_up};

/// A code for every entry, and where columns share codes what is left to tell them apart.
pub struct Columns {
    grouping: Grouping,
    codes: Vec<u16>,
    rests: Rests<Vec<u8>, Vec<u16>>,
}

/// The rests of all entries, in as few bytes as they take.
pub enum Rests<B, W> {
    None,
    Bytes(B),
    Words(W),
}

impl Columns {
    /// Zeroed space for `entries` columns, and the padding.
    pub(crate) fn new(entries: usize, grouping: Grouping) -> Columns {
        let rests = match grouping.rest_width() {
            0 => Rests::None,
            1 => Rests::Bytes(vec![0; entries + PADDING]),
            _ => Rests::Words(vec![0; entries + PADDING]),
        };
        Columns { grouping, codes: vec![0; entries + PADDING], rests }
    }

    /// These columns, each below `labels`, and the padding.
    pub fn from_numbers(labels: usize, numbers: &[u32]) -> Columns {
        let mut columns = Columns::new(numbers.len(), Grouping::new(labels));
        let all = Blocks::new(&[0, numbers.len() as u64]);
        let end = |rows: usize| rows * numbers.len();
        columns.pieces(&all, end).put_labels(0, numbers);
        let itself: Vec<u32> = (0..labels as u32).collect();
        columns.renumber(&all, end, &itself);
        columns
    }

    /// Bytes of one column.
    pub(crate) fn width(labels: usize) -> usize {
        size_of::<u16>() + Grouping::new(labels).rest_width()
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

    /// The rests of a range of entries.
    #[inline]
    pub(crate) fn rests(&self, entries: Range<usize>) -> Rests<&[u8], &[u16]> {
        match &self.rests {
            Rests::None => Rests::None,
            Rests::Bytes(rests) => Rests::Bytes(&rests[entries]),
            Rests::Words(rests) => Rests::Words(&rests[entries]),
        }
    }

    /// Brings what tells columns of the same code apart near, for some entries at once: see
    /// [`Hits::read_ahead`](super::Hits::read_ahead).
    pub(crate) fn read_ahead(&self, entries: Range<usize>) {
        match &self.rests {
            Rests::None => (),
            Rests::Bytes(rests) => touch(&rests[entries]),
            Rests::Words(rests) => touch(&rests[entries]),
        }
    }

    /// The label of an entry, before [`Columns::renumber`].
    pub(crate) fn label(&self, entry: usize) -> u32 {
        let code = self.codes[entry];
        match &self.rests {
            Rests::None => code.into(),
            Rests::Bytes(rests) => whole(code, rests[entry].into()),
            Rests::Words(rests) => whole(code, rests[entry]),
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
    pub(crate) fn each<T>(
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
pub(crate) struct ColumnPieces<'c> {
    codes: Pieces<'c, u16>,
    rests: Rests<Pieces<'c, u8>, Pieces<'c, u16>>,
}

impl Columns {
    /// Cut into blocks; `end` is the first entry behind a number of rows.
    pub(crate) fn pieces(&mut self, blocks: &Blocks, end: impl Fn(usize) -> usize) -> ColumnPieces<'_> {
        ColumnPieces {
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
    /// Writes the labels of a block, until [`Columns::renumber`] makes columns of them: the lower half in place of a code,
    /// what is left of it in place of a rest.
    pub(crate) fn put_labels(&self, block: usize, labels: &[u32]) {
        self.codes.with_new(block, |codes| {
            codes.iter_mut().zip(labels).for_each(|(code, &label)| *code = label as u16);
        });
        match &self.rests {
            Rests::None => (),
            Rests::Bytes(rests) => rests.with_new(block, |rests| {
                rests.iter_mut().zip(labels).for_each(|(rest, &label)| *rest = (label >> 16) as u8);
            }),
            Rests::Words(rests) => rests.with_new(block, |rests| {
                rests.iter_mut().zip(labels).for_each(|(rest, &label)| *rest = (label >> 16) as u16);
            }),
        }
    }

    /// Writes codes and rests of a block in place of its labels; `names` has both of every label.
    fn renumber(&self, block: usize, names: &[u32], labels: &mut Vec<u32>) {
        self.codes.with(block, |codes| match &self.rests {
            Rests::None => renumber(codes, &mut vec![0u8; codes.len()], names, labels, |_| 0),
            Rests::Bytes(rests) => {
                rests.with(block, |rests| renumber(codes, rests, names, labels, |rest| rest as u8));
            }
            Rests::Words(rests) => {
                rests.with(block, |rests| renumber(codes, rests, names, labels, |rest| rest))
            }
        });
    }
}

fn renumber<R: Copy + Into<u16>>(
    codes: &mut [u16],
    rests: &mut [R],
    names: &[u32],
    labels: &mut Vec<u32>,
    small: impl Fn(u16) -> R,
) {
    labels.clear();
    labels.extend(codes.iter().zip(&*rests).map(|(&code, &rest)| whole(code, rest.into())));
    for ((code, rest), name) in codes.iter_mut().zip(rests).zip(look_up(names, labels)) {
        (*code, *rest) = (name as u16, small((name >> 16) as u16));
    }
}

/// A label, or code and rest, from its halves.
fn whole(lower: u16, upper: u16) -> u32 {
    u32::from(lower) | u32::from(upper) << 16
}

impl Columns {
    /// Makes columns of labels ([`ColumnPieces::put_labels`]); `columns_of` has that of each.
    pub(crate) fn renumber(&mut self, blocks: &Blocks, end: impl Fn(usize) -> usize, columns_of: &[u32]) {
        let grouping = self.grouping;
        let mut names = Zeroed::new(columns_of.len());
        let name = |&column: &u32| whole(grouping.code(column), grouping.rest(column));
        names.iter_mut().zip(columns_of).for_each(|(to, column)| *to = name(column));
        let pieces = self.pieces(blocks, end);
        blocks.fold(Vec::new, |labels, block| pieces.renumber(block, &names, labels));
    }
}
