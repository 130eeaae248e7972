//! The columns of all entries, in the layout that a pass reads.

use std::ops::Range;

use super::column_coding::ColumnCoding;
use super::index::{Code, Column, EntryIndex, LabelId};
use super::marginals::PADDING;
use super::row_blocks::{Pieces, RowBlocks};
use crate::buffers::ZeroedArray;
use crate::buffers::prefetch::{prefetch_ahead, read_cache_lines};

/// A code for every entry and, if columns share codes, an offset.
///
/// Loading first writes labels ([`ColumnPieces::write_labels`]), of which codes and offsets hold one half each;
/// [`EntryColumns::renumber`] then replaces them by columns.
pub struct EntryColumns {
    coding: ColumnCoding,
    codes: Vec<u16>,
    offsets: Offsets<Vec<u8>, Vec<u16>>,
}

/// The offsets of some entries, in as few bytes as they need.
pub enum Offsets<B, W> {
    None,
    Bytes(B),
    Words(W),
}

impl EntryColumns {
    /// Returns zeroed columns of `entries` entries, followed by padding.
    pub(crate) fn new(entries: usize, coding: ColumnCoding) -> EntryColumns {
        let offsets = match coding.offset_width() {
            0 => Offsets::None,
            1 => Offsets::Bytes(vec![0; entries + PADDING]),
            _ => Offsets::Words(vec![0; entries + PADDING]),
        };
        EntryColumns { coding, codes: vec![0; entries + PADDING], offsets }
    }

    /// Returns the given columns, each below `labels`, followed by padding.
    pub fn from_columns(labels: usize, numbers: &[u32]) -> EntryColumns {
        let mut columns = EntryColumns::from_labels(labels, numbers);
        let all = RowBlocks::new(&[0, numbers.len() as u64]);
        let identity: Vec<u32> = (0..labels as u32).collect();
        columns.renumber(&all, |rows| rows * numbers.len(), &identity);
        columns
    }

    /// Returns the given labels, to be renumbered, followed by padding.
    pub(crate) fn from_labels(labels: usize, numbers: &[u32]) -> EntryColumns {
        let mut columns = EntryColumns::new(numbers.len(), ColumnCoding::new(labels));
        let all = RowBlocks::new(&[0, numbers.len() as u64]);
        columns.pieces(&all, |rows| rows * numbers.len()).write_labels(0, numbers);
        columns
    }

    /// Returns the bytes of one entry's column.
    pub(crate) fn width(labels: usize) -> usize {
        size_of::<u16>() + ColumnCoding::new(labels).offset_width()
    }

    #[inline]
    pub fn coding(&self) -> ColumnCoding {
        self.coding
    }

    /// Returns the codes of all entries and of the padding.
    #[inline]
    pub fn codes(&self) -> &[u16] {
        &self.codes
    }

    /// Returns the offsets of a range of entries.
    #[inline]
    pub(crate) fn offsets(&self, entries: Range<usize>) -> Offsets<&[u8], &[u16]> {
        match &self.offsets {
            Offsets::None => Offsets::None,
            Offsets::Bytes(offsets) => Offsets::Bytes(&offsets[entries]),
            Offsets::Words(offsets) => Offsets::Words(&offsets[entries]),
        }
    }

    /// Prefetches the offsets of a range of entries. Codes are read in order anyway.
    pub(crate) fn prefetch_entries(&self, entries: Range<usize>) {
        match self.offsets(entries) {
            Offsets::None => (),
            Offsets::Bytes(offsets) => read_cache_lines(offsets, |&offset| offset.into()),
            Offsets::Words(offsets) => read_cache_lines(offsets, |&offset| offset.into()),
        }
    }

    #[inline]
    fn offset(&self, entry: EntryIndex) -> Option<u16> {
        match &self.offsets {
            Offsets::None => None,
            Offsets::Bytes(offsets) => Some(offsets[entry.0].into()),
            Offsets::Words(offsets) => Some(offsets[entry.0]),
        }
    }

    /// Returns the label of an entry, before [`EntryColumns::renumber`].
    pub(crate) fn label(&self, entry: EntryIndex) -> LabelId {
        LabelId(join_halves(self.codes[entry.0], self.offset(entry).unwrap_or(0)))
    }

    /// Returns the column of an entry.
    #[inline]
    pub fn get(&self, entry: EntryIndex) -> Column {
        let code = self.codes[entry.0];
        self.offset(entry).map_or(Column(code.into()), |offset| self.coding.column(Code(code), offset))
    }

    /// Cuts the columns into blocks; `end` gives the first entry behind a number of rows.
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

    /// Replaces labels by columns; `columns_by_label` has the column of each label.
    pub(crate) fn renumber(
        &mut self,
        blocks: &RowBlocks,
        end: impl Fn(usize) -> usize,
        columns_by_label: &[u32],
    ) {
        let coding = self.coding;
        let mut coded_labels = ZeroedArray::new(columns_by_label.len());
        for (coded_label, &column) in coded_labels.iter_mut().zip(columns_by_label) {
            *coded_label = join_halves(coding.code(Column(column)).0, coding.offset(Column(column)));
        }
        let pieces = self.pieces(blocks, end);
        blocks.fold(Vec::new, |labels, block| pieces.renumber(block, &coded_labels, labels));
    }
}

/// The columns of each block of rows, to be written by the thread that has the block.
pub(crate) struct ColumnPieces<'c> {
    codes: Pieces<'c, u16>,
    offsets: Offsets<Pieces<'c, u8>, Pieces<'c, u16>>,
}

impl ColumnPieces<'_> {
    /// Writes the labels of a block: lower halves in place of codes, upper halves in place of offsets.
    pub(crate) fn write_labels(&self, block: usize, labels: &[u32]) {
        write_halves(&self.codes, block, labels, |label| label as u16);
        match &self.offsets {
            Offsets::None => (),
            Offsets::Bytes(offsets) => write_halves(offsets, block, labels, |label| (label >> 16) as u8),
            Offsets::Words(offsets) => write_halves(offsets, block, labels, |label| (label >> 16) as u16),
        }
    }

    /// Replaces the labels of a block by codes and offsets; `coded_labels` has both of every label.
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

fn write_halves<T>(pieces: &Pieces<'_, T>, block: usize, labels: &[u32], half: impl Fn(u32) -> T) {
    pieces.with_untouched(block, |piece| {
        piece.iter_mut().zip(labels).for_each(|(to, &label)| *to = half(label));
    });
}

fn renumber<R: Copy + Into<u16>>(
    codes: &mut [u16],
    offsets: &mut [R],
    coded_labels: &[u32],
    labels: &mut Vec<u32>,
    narrow: impl Fn(u16) -> R,
) {
    labels.clear();
    labels.extend(codes.iter().zip(&*offsets).map(|(&code, &offset)| join_halves(code, offset.into())));
    for (turn, (code, offset)) in codes.iter_mut().zip(offsets).enumerate() {
        prefetch_ahead(coded_labels, labels, turn, |&label| label as usize);
        let coded_label = coded_labels[labels[turn] as usize];
        (*code, *offset) = (coded_label as u16, narrow((coded_label >> 16) as u16));
    }
}

fn join_halves(lower: u16, upper: u16) -> u32 {
    u32::from(lower) | u32::from(upper) << 16
}
