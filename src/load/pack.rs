//! From a file into the arrays of a pass, by all threads: each reads and checks a block, and puts it where
//! it will read it again.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::buffers::{Zeroed, prefetch::bring_later};
use crate::shard::{Blocks, Columns, Grouping, Hits, Known, Marginals, Marks, PADDING, columns_of_row};
use crate::sparse::Csr;
use crate::store::{Content, MatrixFile, RowStarts, Slab, StoreError};

/// What a thread has while it reads.
struct Reader {
    slab: Slab,
    /// The first block that could not be read, and why.
    failed: Option<(usize, StoreError)>,
    /// Which entries of a block are of true labels.
    marks: Marks,
    /// True labels of a block, each with the size of its marginal.
    true_ones: Vec<(u32, u32)>,
    /// The sums of those, by label; see [`Known::found`].
    found: Zeroed<u32>,
    /// Rows that were added to them, and sums of so many earlier ones that the next could have been too large.
    added: usize,
    earlier: Vec<u64>,
}

/// Rows of which every sum fits.
const MOST_ADDED: usize = (u32::MAX / Known::ONE as u32) as usize;

impl Reader {
    /// One that adds up what is found of so many labels.
    fn new(labels: usize) -> Reader {
        let (slab, marks) = (Slab::default(), Marks::default());
        let (found, earlier) = (Zeroed::new(labels), Vec::new());
        Reader { slab, failed: None, marks, true_ones: Vec::new(), found, added: 0, earlier }
    }

    /// Marks true labels of a block. Where it is asked for, adds up what is found of each.
    fn mark(&mut self, hits: &Hits, truth: &Csr, rows: Range<usize>, start: impl Fn(usize) -> usize) {
        if !self.found.is_empty() {
            self.make_room(rows.len());
        }
        let Reader { slab, marks, true_ones, found, .. } = self;
        true_ones.clear();
        marks.begin(start(rows.start)..start(rows.end));
        let mut first = 0;
        for (local, &end) in rows.zip(&slab.ends) {
            let (stored, values) = (&slab.columns[first..end], &slab.values[first..end]);
            marks.mark(start(local), stored, columns_of_row(truth, local), |position| {
                true_ones.push((stored[position], (values[position] * Known::ONE) as u32));
            });
            first = end;
        }
        hits.put(marks);
        if !found.is_empty() {
            for (turn, &(label, size)) in true_ones.iter().enumerate() {
                bring_later(found, true_ones, turn, |later| later.0 as usize);
                found[label as usize] += size;
            }
        }
    }

    /// Makes room for the sums of so many rows more.
    fn make_room(&mut self, rows: usize) {
        if self.added + rows > MOST_ADDED {
            self.earlier = self.take_found();
            self.found.fill(0);
            self.added = 0;
        }
        self.added += rows;
    }

    /// What is found of each label in all rows.
    fn take_found(&mut self) -> Vec<u64> {
        let mut all = std::mem::take(&mut self.earlier);
        all.resize(self.found.len(), 0);
        all.iter_mut().zip(&*self.found).for_each(|(all, &found)| *all += u64::from(found));
        all
    }
}

/// Loads the rows of `starts`, and marks the entries of labels that are in `truth`. Of several bad rows the
/// first is named. Where `positives` of all ranks are given, returns what is found of each label in these rows, too: see
/// [`Known::found`].
pub(crate) fn pack(
    matrix: &MatrixFile<'_>,
    starts: RowStarts,
    content: Content,
    truth: Option<&Csr>,
    positives: Option<&[u64]>,
) -> Result<(Marginals, Hits, Vec<u64>), StoreError> {
    let labels = matrix.shape().1 as usize;
    let entries = starts.entries() as usize;
    let blocks = Blocks::new(starts.starts());
    let some = |positives: &[u64]| positives.iter().filter(|&&positives| positives > 0).count();
    let mut columns = Columns::new(entries, Grouping::with_alike(labels, positives.map_or(labels, some)));
    // Zeros that cost nothing: each page is the thread's that first writes to it.
    let mut values = vec![0.0; entries + PADDING];
    let hits = Hits::new(truth.map_or(0, |_| entries));
    let start = |row: usize| starts.starts()[row] as usize;
    let value_pieces = blocks.pieces(&mut values, start);
    let column_pieces = columns.pieces(&blocks, start);
    let first_bad = AtomicUsize::new(usize::MAX);
    let mut readers = blocks.fold(
        || Reader::new(positives.map_or(0, <[u64]>::len)),
        |reader, block| {
            // Behind a bad block nothing matters any more; before it, another may be.
            if first_bad.load(Ordering::Relaxed) < block {
                return;
            }
            let rows = blocks.rows(block);
            if let Err(error) = matrix.read_slab(&starts, rows.clone(), content, &mut reader.slab) {
                first_bad.fetch_min(block, Ordering::Relaxed);
                if reader.failed.as_ref().is_none_or(|(first, _)| block < *first) {
                    reader.failed = Some((block, error));
                }
                return;
            }
            if let Some(truth) = truth {
                reader.mark(&hits, truth, rows, start);
            }
            value_pieces.with_new(block, |values| values.copy_from_slice(&reader.slab.values));
            column_pieces.put_labels(block, &reader.slab.columns);
        },
    );
    drop((value_pieces, column_pieces));
    let mut found = vec![0; positives.map_or(0, <[u64]>::len)];
    for reader in &mut readers {
        found.iter_mut().zip(reader.take_found()).for_each(|(sum, found)| *sum += found);
    }
    let failures = readers.into_iter().filter_map(|reader| reader.failed);
    if let Some((_, error)) = failures.min_by_key(|failed| failed.0) {
        return Err(error);
    }
    Ok((Marginals::new(labels, starts.into_starts(), columns, values, blocks), hits, found))
}
