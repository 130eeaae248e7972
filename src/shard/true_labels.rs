//! True labels, and the stored entries that belong to them.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::index::{EntryIndex, Position};
use super::marginals::Marginals;
use crate::buffers::prefetch::read_cache_lines;
use crate::sparse::{Csr, RowsView};

/// The true labels of a range of rows.
pub struct TrueLabels {
    labels: Csr,
    hits: HitBits,
    total_positives: Option<Vec<u64>>,
}

impl TrueLabels {
    /// Returns the labels of the rows of `marginals`.
    ///
    /// # Panics
    /// If the number of rows differs.
    pub fn new(labels: Csr, marginals: &Marginals) -> TrueLabels {
        assert_eq!(labels.rows(), marginals.rows(), "labels of the same rows");
        let hits = HitBits::new(marginals.entries());
        let mut marks = BlockHitBits::default();
        marks.reset(0..marginals.entries());
        let mut stored: Vec<u32> = Vec::new();
        for local in 0..labels.rows() {
            stored.clear();
            stored.extend(marginals.labels_and_marginals(local).map(|(label, _)| label.0));
            let start = marginals.row(local).entry(Position(0));
            marks.mark(start, &stored, RowsView::from(&labels).row(local).0, |_| ());
        }
        hits.write_block(&marks);
        TrueLabels { labels, hits, total_positives: None }
    }

    pub(crate) fn from_parts(labels: Csr, hits: HitBits, total_positives: Option<Vec<u64>>) -> TrueLabels {
        TrueLabels { labels, hits, total_positives }
    }

    /// Returns the positive instances of each label in all shards, if they were counted.
    pub fn total_positives(&self) -> Option<&[u64]> {
        self.total_positives.as_deref()
    }

    pub fn labels(&self) -> &Csr {
        &self.labels
    }

    /// Returns the labels of row `local`, ascending.
    #[inline]
    pub fn row(&self, local: usize) -> &[u32] {
        RowsView::from(&self.labels).row(local).0
    }

    pub fn hits(&self) -> &HitBits {
        &self.hits
    }
}

/// One bit for each stored entry: whether its row has that label. A pass then need not search true labels.
pub struct HitBits {
    /// Atomic because threads write blocks of rows in parallel, and two blocks may share a word.
    words: Vec<AtomicU64>,
}

/// The bits of one block of rows, collected so that they can be written word by word: each bit on its own would take
/// an atomic operation.
#[derive(Default)]
pub(crate) struct BlockHitBits {
    /// Index of the first word among those of all entries.
    first: usize,
    words: Vec<u64>,
}

impl BlockHitBits {
    /// Starts a range of entries, none of them marked.
    pub fn reset(&mut self, entries: Range<usize>) {
        self.first = entries.start / 64;
        self.words.clear();
        self.words.resize(entries.end.div_ceil(64).saturating_sub(self.first), 0);
    }

    /// Marks the `stored` labels of a row that are among `true_labels`, and passes their positions to `on_hit`. The
    /// row begins at entry `start`; both lists ascend.
    pub fn mark(
        &mut self,
        start: EntryIndex,
        stored: &[u32],
        true_labels: &[u32],
        mut on_hit: impl FnMut(Position),
    ) {
        for label in true_labels {
            if let Ok(position) = stored.binary_search(label) {
                let entry = start.0 + position;
                self.words[entry / 64 - self.first] |= 1 << (entry % 64);
                on_hit(Position(position as u32));
            }
        }
    }
}

impl HitBits {
    /// Returns bits that are all zero; untouched memory costs nothing.
    pub(crate) fn new(entries: usize) -> HitBits {
        HitBits { words: bytemuck::zeroed_vec(entries.div_ceil(64)) }
    }

    /// Writes the bits of a block, whose first and last word may belong to a neighbouring block too.
    pub(crate) fn write_block(&self, marks: &BlockHitBits) {
        let words = &self.words[marks.first..][..marks.words.len()];
        for (at, (word, &bits)) in words.iter().zip(&marks.words).enumerate() {
            if at == 0 || at + 1 == words.len() {
                word.fetch_or(bits, Ordering::Relaxed);
            } else {
                word.store(bits, Ordering::Relaxed);
            }
        }
    }

    /// Returns 1 if the entry is of a true label, otherwise 0.
    #[inline]
    pub fn get(&self, EntryIndex(entry): EntryIndex) -> u32 {
        (self.words[entry / 64].load(Ordering::Relaxed) >> (entry % 64)) as u32 & 1
    }

    /// Prefetches the bits of a range of entries.
    pub fn prefetch_entries(&self, entries: Range<usize>) {
        let words = &self.words[entries.start / 64..entries.end.div_ceil(64)];
        read_cache_lines(words, |word| word.load(Ordering::Relaxed));
    }
}
