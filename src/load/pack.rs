//! Reading marginals directly into the arrays of a pass. The thread that reads a block also writes it, so that its pages are
//! near the processor that will process the block.

use std::ops::Range;

use super::read::read_blocks;
use crate::buffers::{ZeroedArray, prefetch::prefetch_ahead};
use crate::shard::{
    BlockHitBits, ColumnCoding, EntryColumns, EntryIndex, HitBits, LabelFrequencies, Marginals, PADDING,
    RowBlocks,
};
use crate::sparse::{Csr, RowsView};
use crate::store::{MatrixFile, RowStarts, Slab, StoreError, ValueKind};

/// The state of a thread that looks for true labels among the entries of its blocks.
struct HitMarker {
    /// The entries of a block that are true labels, as bits.
    marks: BlockHitBits,
    /// The true labels of a block, each with the scaled marginal of its entry.
    true_entries: Vec<(u32, u32)>,
    /// The sums of those, by label; see [`LabelFrequencies::hit_mass`]. Empty if they are not needed.
    hit_mass: ZeroedArray<u32>,
    /// Rows in these sums, and the sums of earlier rows, which were moved away before they could overflow.
    rows_added: usize,
    earlier_mass: Vec<u64>,
}

/// Rows whose sums cannot overflow.
const MAX_ROWS_ADDED: usize = (u32::MAX / LabelFrequencies::MASS_OF_ONE as u32) as usize;

impl HitMarker {
    fn new(labels: usize) -> HitMarker {
        HitMarker {
            marks: BlockHitBits::default(),
            true_entries: Vec::new(),
            hit_mass: ZeroedArray::new(labels),
            rows_added: 0,
            earlier_mass: Vec::new(),
        }
    }

    /// Marks the true labels of a block and adds up their marginals.
    fn mark(
        &mut self,
        hits: &HitBits,
        slab: &Slab,
        true_labels: &Csr,
        rows: Range<usize>,
        start: impl Fn(usize) -> usize,
    ) {
        if !self.hit_mass.is_empty() {
            self.reserve_rows(rows.len());
        }
        let HitMarker { marks, true_entries, hit_mass, .. } = self;
        true_entries.clear();
        marks.reset(start(rows.start)..start(rows.end));
        let true_labels = RowsView::from(true_labels);
        let mut first = 0;
        for (local, &end) in rows.zip(&slab.ends) {
            let (stored, values) = (&slab.columns[first..end], &slab.values[first..end]);
            marks.mark(EntryIndex(start(local)), stored, true_labels.row(local).0, |position| {
                let mass = values[position.index()] * LabelFrequencies::MASS_OF_ONE;
                true_entries.push((stored[position.index()], mass as u32));
            });
            first = end;
        }
        hits.write_block(marks);
        if !hit_mass.is_empty() {
            for (turn, &(label, size)) in true_entries.iter().enumerate() {
                prefetch_ahead(hit_mass, true_entries, turn, |later| later.0 as usize);
                hit_mass[label as usize] += size;
            }
        }
    }

    /// Ensures that the sums cannot overflow when `rows` more rows are added.
    fn reserve_rows(&mut self, rows: usize) {
        if self.rows_added + rows > MAX_ROWS_ADDED {
            self.earlier_mass = self.take_hit_mass();
            self.hit_mass.fill(0);
            self.rows_added = 0;
        }
        self.rows_added += rows;
    }

    /// Returns the sums over all rows.
    fn take_hit_mass(&mut self) -> Vec<u64> {
        let mut all = std::mem::take(&mut self.earlier_mass);
        all.resize(self.hit_mass.len(), 0);
        all.iter_mut().zip(&*self.hit_mass).for_each(|(all, &hit_mass)| *all += u64::from(hit_mass));
        all
    }
}

/// Loads the rows of `starts` and marks the entries that are in `true_labels`. An error names the first bad row. With
/// `positives` of all ranks, also returns [`LabelFrequencies::hit_mass`] of these rows.
pub(super) fn load_packed(
    matrix: &MatrixFile,
    starts: RowStarts,
    content: ValueKind,
    true_labels: Option<&Csr>,
    positives: Option<&[u64]>,
) -> Result<(Marginals, HitBits, Vec<u64>), StoreError> {
    let labels = matrix.shape().1 as usize;
    let entries = starts.entries() as usize;
    let blocks = RowBlocks::new(starts.starts());
    let nonzero = |positives: &[u64]| positives.iter().filter(|&&positives| positives > 0).count();
    let mut columns =
        EntryColumns::new(entries, ColumnCoding::with_distinct(labels, positives.map_or(labels, nonzero)));
    // Untouched zeros: each page is placed near the thread that first writes to it.
    let mut values = vec![0.0; entries + PADDING];
    let hits = HitBits::new(true_labels.map_or(0, |_| entries));
    let start = |row: usize| starts.starts()[row] as usize;
    let value_pieces = blocks.pieces(&mut values, start);
    let column_pieces = columns.pieces(&blocks, start);
    let summed_labels = positives.map_or(0, <[u64]>::len);
    let write = |marker: &mut HitMarker, block, slab: &Slab| {
        if let Some(true_labels) = true_labels {
            marker.mark(&hits, slab, true_labels, blocks.rows(block), start);
        }
        value_pieces.with_untouched(block, |values| values.copy_from_slice(&slab.values));
        column_pieces.write_labels(block, &slab.columns);
    };
    let markers = read_blocks(matrix, &starts, content, &blocks, || HitMarker::new(summed_labels), write)?;
    drop((value_pieces, column_pieces));
    let mut hit_mass = vec![0; summed_labels];
    for mut marker in markers {
        hit_mass.iter_mut().zip(marker.take_hit_mass()).for_each(|(sum, hit_mass)| *sum += hit_mass);
    }
    Ok((Marginals::new(labels, starts.into_starts(), columns, values, blocks), hits, hit_mass))
}
