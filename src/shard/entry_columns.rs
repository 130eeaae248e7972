//! The columns of all entries, as a pass reads them.

use std::ops::Range;

use super::column_coding::ColumnCoding;
use super::marginals::PADDING;
use super::row_blocks::{Pieces, RowBlocks};
use crate::buffers::{ZeroedArray, prefetch::gather_prefetched};

/// A code for every entry, and where columns share codes what is left to tell them apart.
pub struct EntryColumns {
    coding: ColumnCoding,
    codes: Vec<u16>,
    offsets: Offsets<Vec<u8>, Vec<u16>>,
}

/// The offsets of all entries, in as few bytes as they take.
pub enum Offsets<B, W> {
    None,
    Bytes(B),
    Words(W),
}

impl EntryColumns {
    /// Zeroed space for `entries` columns, and the padding.
    pub(crate) fn new(entries: usize, coding: ColumnCoding) -> EntryColumns {
        let offsets = match coding.offset_width() {
            0 => Offsets::None,
            1 => Offsets::Bytes(vec![0; entries + PADDING]),
            _ => Offsets::Words(vec![0; entries + PADDING]),
        };
        EntryColumns { coding, codes: vec![0; entries + PADDING], offsets }
    }

    /// These columns, each below `labels`, and the padding.
    pub fn from_columns(labels: usize, numbers: &[u32]) -> EntryColumns {
        let mut columns = EntryColumns::new(numbers.len(), ColumnCoding::new(labels));
        let all = RowBlocks::new(&[0, numbers.len() as u64]);
        let end = |rows: usize| rows * numbers.len();
        columns.pieces(&all, end).write_labels(0, numbers);
        let itself: Vec<u32> = (0..labels as u32).collect();
        columns.renumber(&all, end, &itself);
        columns
    }

    /// Bytes of one column.
    pub(crate) fn width(labels: usize) -> usize {
        size_of::<u16>() + ColumnCoding::new(labels).offset_width()
    }

    #[inline]
    pub fn coding(&self) -> ColumnCoding {
        self.coding
    }

    /// The codes of all entries, and the padding.
    #[inline]
    pub fn codes(&self) -> &[u16] {
        &self.codes
    }

    /// The offsets of a range of entries.
    #[inline]
    pub(crate) fn offsets(&self, entries: Range<usize>) -> Offsets<&[u8], &[u16]> {
        match &self.offsets {
            Offsets::None => Offsets::None,
            Offsets::Bytes(offsets) => Offsets::Bytes(&offsets[entries]),
            Offsets::Words(offsets) => Offsets::Words(&offsets[entries]),
        }
    }

    /// Brings what tells columns of the same code apart near, for some entries at once: see
    /// [`HitBits::prefetch_entries`](super::HitBits::prefetch_entries).
    pub(crate) fn prefetch_entries(&self, entries: Range<usize>) {
        match &self.offsets {
            Offsets::None => (),
            Offsets::Bytes(offsets) => read_every_cache_line(&offsets[entries]),
            Offsets::Words(offsets) => read_every_cache_line(&offsets[entries]),
        }
    }

    /// The label of an entry, before [`EntryColumns::renumber`].
    pub(crate) fn label(&self, entry: usize) -> u32 {
        let code = self.codes[entry];
        match &self.offsets {
            Offsets::None => code.into(),
            Offsets::Bytes(offsets) => join_halves(code, offsets[entry].into()),
            Offsets::Words(offsets) => join_halves(code, offsets[entry]),
        }
    }

    /// The column of an entry.
    #[inline]
    pub fn get(&self, entry: usize) -> u32 {
        let code = self.codes[entry];
        match &self.offsets {
            Offsets::None => code.into(),
            Offsets::Bytes(offsets) => self.coding.column(code, offsets[entry].into()),
            Offsets::Words(offsets) => self.coding.column(code, offsets[entry]),
        }
    }
}

/// Reads one number of every cache line.
fn read_every_cache_line<T: Copy + Default + std::ops::BitXor<Output = T>>(numbers: &[T]) {
    const CACHE_LINE: usize = 64;
    let some = numbers.iter().step_by(CACHE_LINE / size_of::<T>());
    std::hint::black_box(some.fold(T::default(), |all, &number| all ^ number));
}

impl EntryColumns {
    /// Tells `visit` the columns of the entries at `positions` of a range, each with one of `others`.
    #[inline]
    pub(crate) fn visit_positions<T>(
        &self,
        range: Range<usize>,
        positions: &[u32],
        others: impl Iterator<Item = T>,
        mut visit: impl FnMut(u32, u32, T),
    ) {
        let codes = &self.codes[range.clone()];
        let positions = positions.iter().zip(others);
        // Which kind of offsets there are is asked once, not for every entry.
        match &self.offsets {
            Offsets::None => {
                positions.for_each(|(&at, other)| visit(codes[at as usize].into(), at, other));
            }
            Offsets::Bytes(offsets) => {
                let offsets = &offsets[range];
                positions.for_each(|(&at, other)| {
                    let column = self.coding.column(codes[at as usize], offsets[at as usize].into());
                    visit(column, at, other);
                });
            }
            Offsets::Words(offsets) => {
                let offsets = &offsets[range];
                positions.for_each(|(&at, other)| {
                    let column = self.coding.column(codes[at as usize], offsets[at as usize]);
                    visit(column, at, other);
                });
            }
        }
    }
}

/// The columns of blocks of rows, each to be filled in by whoever takes that block.
pub(crate) struct ColumnPieces<'c> {
    codes: Pieces<'c, u16>,
    offsets: Offsets<Pieces<'c, u8>, Pieces<'c, u16>>,
}

impl EntryColumns {
    /// Cut into blocks; `end` is the first entry behind a number of rows.
    pub(crate) fn pieces(&mut self, blocks: &RowBlocks, end: impl Fn(usize) -> usize) -> ColumnPieces<'_> {
        ColumnPieces {
            codes: blocks.pieces(&mut self.codes, &end),
            offsets: match &mut self.offsets {
                Offsets::None => Offsets::None,
                Offsets::Bytes(offsets) => Offsets::Bytes(blocks.pieces(offsets, &end)),
                Offsets::Words(offsets) => Offsets::Words(blocks.pieces(offsets, &end)),
            },
        }
    }
}

impl ColumnPieces<'_> {
    /// Writes the labels of a block, until [`EntryColumns::renumber`] makes columns of them: the lower half in place of a code,
    /// what is left of it in place of an offset.
    pub(crate) fn write_labels(&self, block: usize, labels: &[u32]) {
        self.codes.with_untouched(block, |codes| {
            codes.iter_mut().zip(labels).for_each(|(code, &label)| *code = label as u16);
        });
        match &self.offsets {
            Offsets::None => (),
            Offsets::Bytes(offsets) => offsets.with_untouched(block, |offsets| {
                offsets.iter_mut().zip(labels).for_each(|(offset, &label)| *offset = (label >> 16) as u8);
            }),
            Offsets::Words(offsets) => offsets.with_untouched(block, |offsets| {
                offsets.iter_mut().zip(labels).for_each(|(offset, &label)| *offset = (label >> 16) as u16);
            }),
        }
    }

    /// Writes codes and offsets of a block in place of its labels; `coded_labels` has both of every label.
    fn renumber(&self, block: usize, coded_labels: &[u32], labels: &mut Vec<u32>) {
        self.codes.with(block, |codes| match &self.offsets {
            Offsets::None => renumber(codes, &mut vec![0u8; codes.len()], coded_labels, labels, |_| 0),
            Offsets::Bytes(offsets) => {
                offsets.with(block, |offsets| {
                    renumber(codes, offsets, coded_labels, labels, |offset| offset as u8)
                });
            }
            Offsets::Words(offsets) => {
                offsets.with(block, |offsets| renumber(codes, offsets, coded_labels, labels, |offset| offset))
            }
        });
    }
}

fn renumber<R: Copy + Into<u16>>(
    codes: &mut [u16],
    offsets: &mut [R],
    coded_labels: &[u32],
    labels: &mut Vec<u32>,
    small: impl Fn(u16) -> R,
) {
    labels.clear();
    labels.extend(codes.iter().zip(&*offsets).map(|(&code, &offset)| join_halves(code, offset.into())));
    for ((code, offset), coded_label) in
        codes.iter_mut().zip(offsets).zip(gather_prefetched(coded_labels, labels))
    {
        (*code, *offset) = (coded_label as u16, small((coded_label >> 16) as u16));
    }
}

/// A label, or code and offset, from its halves.
fn join_halves(lower: u16, upper: u16) -> u32 {
    u32::from(lower) | u32::from(upper) << 16
}

impl EntryColumns {
    /// Makes columns of labels ([`ColumnPieces::write_labels`]); `columns_by_label` has that of each.
    pub(crate) fn renumber(
        &mut self,
        blocks: &RowBlocks,
        end: impl Fn(usize) -> usize,
        columns_by_label: &[u32],
    ) {
        let coding = self.coding;
        let mut coded_labels = ZeroedArray::new(columns_by_label.len());
        let coded_label = |&column: &u32| join_halves(coding.code(column), coding.offset(column));
        coded_labels.iter_mut().zip(columns_by_label).for_each(|(to, column)| *to = coded_label(column));
        let pieces = self.pieces(blocks, end);
        blocks.fold(Vec::new, |labels, block| pieces.renumber(block, &coded_labels, labels));
    }
}
