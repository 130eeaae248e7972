//! From a file into the arrays of a pass, by all threads: each reads and checks a block, and puts it where
//! it will read it again.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::buffers::{ZeroedArray, prefetch::prefetch_ahead};
use crate::shard::{
    BlockHitBits, ColumnCoding, EntryColumns, EntryIndex, HitBits, LabelFrequencies, Marginals, PADDING,
    RowBlocks,
};
use crate::sparse::{Csr, row_indices};
use crate::store::{MatrixFile, RowStarts, Slab, StoreError, ValueKind};

/// What a thread has while it reads.
struct BlockReader {
    slab: Slab,
    /// The first block that could not be read, and why.
    first_error: Option<(usize, StoreError)>,
    /// Which entries of a block are of true labels.
    marks: BlockHitBits,
    /// True labels of a block, each with the size of its marginal.
    true_entries: Vec<(u32, u32)>,
    /// The sums of those, by label; see [`LabelFrequencies::hit_mass`].
    hit_mass: ZeroedArray<u32>,
    /// Rows that were added to them, and sums of so many earlier ones that the next could have been too large.
    rows_added: usize,
    earlier_mass: Vec<u64>,
}

/// Rows of which every sum fits.
const MAX_ROWS_ADDED: usize = (u32::MAX / LabelFrequencies::MASS_OF_ONE as u32) as usize;

impl BlockReader {
    /// One that adds up what is found of so many labels.
    fn new(labels: usize) -> BlockReader {
        let (slab, marks) = (Slab::default(), BlockHitBits::default());
        let (hit_mass, earlier_mass) = (ZeroedArray::new(labels), Vec::new());
        BlockReader {
            slab,
            first_error: None,
            marks,
            true_entries: Vec::new(),
            hit_mass,
            rows_added: 0,
            earlier_mass,
        }
    }

    /// Marks true labels of a block. Where it is asked for, adds up what is found of each.
    fn mark_true_labels(
        &mut self,
        hits: &HitBits,
        true_labels: &Csr,
        rows: Range<usize>,
        start: impl Fn(usize) -> usize,
    ) {
        if !self.hit_mass.is_empty() {
            self.reserve_rows(rows.len());
        }
        let BlockReader { slab, marks, true_entries, hit_mass, .. } = self;
        true_entries.clear();
        marks.reset(start(rows.start)..start(rows.end));
        let mut first = 0;
        for (local, &end) in rows.zip(&slab.ends) {
            let (stored, values) = (&slab.columns[first..end], &slab.values[first..end]);
            let start = EntryIndex(start(local));
            marks.mark(start, stored, row_indices(true_labels, local), |position| {
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

    /// Makes room for the sums of so many rows more.
    fn reserve_rows(&mut self, rows: usize) {
        if self.rows_added + rows > MAX_ROWS_ADDED {
            self.earlier_mass = self.take_hit_mass();
            self.hit_mass.fill(0);
            self.rows_added = 0;
        }
        self.rows_added += rows;
    }

    /// What is found of each label in all rows.
    fn take_hit_mass(&mut self) -> Vec<u64> {
        let mut all = std::mem::take(&mut self.earlier_mass);
        all.resize(self.hit_mass.len(), 0);
        all.iter_mut().zip(&*self.hit_mass).for_each(|(all, &hit_mass)| *all += u64::from(hit_mass));
        all
    }
}

/// Loads the rows of `starts`, and marks the entries of labels that are in `true_labels`. Of several bad rows the
/// first is named. Where `positives` of all ranks are given, returns what is found of each label in these rows, too: see
/// [`LabelFrequencies::hit_mass`].
pub(crate) fn load_packed(
    matrix: &MatrixFile<'_>,
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
    // Zeros that cost nothing: each page is the thread's that first writes to it.
    let mut values = vec![0.0; entries + PADDING];
    let hits = HitBits::new(true_labels.map_or(0, |_| entries));
    let start = |row: usize| starts.starts()[row] as usize;
    let value_pieces = blocks.pieces(&mut values, start);
    let column_pieces = columns.pieces(&blocks, start);
    let first_bad = AtomicUsize::new(usize::MAX);
    let mut readers = blocks.fold(
        || BlockReader::new(positives.map_or(0, <[u64]>::len)),
        |reader, block| {
            // Behind a bad block nothing matters any more; before it, another may be.
            if first_bad.load(Ordering::Relaxed) < block {
                return;
            }
            let rows = blocks.rows(block);
            if let Err(error) = matrix.read_slab(&starts, rows.clone(), content, &mut reader.slab) {
                first_bad.fetch_min(block, Ordering::Relaxed);
                if reader.first_error.as_ref().is_none_or(|(first, _)| block < *first) {
                    reader.first_error = Some((block, error));
                }
                return;
            }
            if let Some(true_labels) = true_labels {
                reader.mark_true_labels(&hits, true_labels, rows, start);
            }
            value_pieces.with_untouched(block, |values| values.copy_from_slice(&reader.slab.values));
            column_pieces.write_labels(block, &reader.slab.columns);
        },
    );
    drop((value_pieces, column_pieces));
    let mut hit_mass = vec![0; positives.map_or(0, <[u64]>::len)];
    for reader in &mut readers {
        hit_mass.iter_mut().zip(reader.take_hit_mass()).for_each(|(sum, hit_mass)| *sum += hit_mass);
    }
    let failures = readers.into_iter().filter_map(|reader| reader.first_error);
    if let Some((_, error)) = failures.min_by_key(|first_error| first_error.0) {
        return Err(error);
    }
    Ok((Marginals::new(labels, starts.into_starts(), columns, values, blocks), hits, hit_mass))
}
