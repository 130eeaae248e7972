//! True labels, and which of the stored marginals are theirs.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::marginals::Marginals;
use crate::sparse::Csr;

/// The true labels of a range of rows.
pub struct TrueLabels {
    labels: Csr,
    hits: HitBits,
}

impl TrueLabels {
    /// The labels of the rows of `marginals`.
    ///
    /// # Panics
    /// If the number of rows differs.
    pub fn new(labels: Csr, marginals: &Marginals) -> TrueLabels {
        assert_eq!(labels.rows(), marginals.rows(), "labels of the same rows");
        let hits = HitBits::new(marginals.entries());
        let mut marks = BlockHitBits::default();
        marks.reset(0..marginals.entries());
        let mut row: Vec<u32> = Vec::new();
        for local in 0..labels.rows() {
            row.clear();
            row.extend(marginals.labels_and_marginals(local).map(|entry| entry.0));
            marks.mark(marginals.first_entry(local), &row, row_columns(&labels, local), |_| ());
        }
        hits.write_block(&marks);
        TrueLabels { labels, hits }
    }

    pub(crate) fn from_parts(labels: Csr, hits: HitBits) -> TrueLabels {
        TrueLabels { labels, hits }
    }

    pub fn labels(&self) -> &Csr {
        &self.labels
    }

    /// The labels of row `local`, ascending.
    #[inline]
    pub fn row(&self, local: usize) -> &[u32] {
        row_columns(&self.labels, local)
    }

    pub fn hits(&self) -> &HitBits {
        &self.hits
    }
}

/// The columns of row `local` of a matrix.
#[inline]
pub(crate) fn row_columns(matrix: &Csr, local: usize) -> &[u32] {
    let indptr = matrix.indptr();
    let indptr = indptr.raw_storage();
    &matrix.indices()[indptr[local]..indptr[local + 1]]
}

/// One bit for each stored entry: whether its row has that label. A pass that picks entries then needs to
/// look for nothing.
pub struct HitBits {
    /// Threads fill in blocks of rows side by side, and two blocks may share a word.
    words: Vec<AtomicU64>,
}

/// The bits of a block of rows, until all of them are put among the others: one by one, each would have to wait until no other
/// thread changes its word.
#[derive(Default)]
pub(crate) struct BlockHitBits {
    /// The place of the first word among all.
    first: usize,
    words: Vec<u64>,
}

impl BlockHitBits {
    /// Makes these those of a range of entries, none of them marked.
    pub fn reset(&mut self, entries: Range<usize>) {
        self.first = entries.start / 64;
        self.words.clear();
        self.words.resize(entries.end.div_ceil(64).saturating_sub(self.first), 0);
    }

    /// Marks the entries of a row that are among `true_labels`, and tells their positions; the first entry is number `start`. Both
    /// ascend.
    pub fn mark(&mut self, start: usize, stored: &[u32], true_labels: &[u32], mut on_hit: impl FnMut(usize)) {
        for label in true_labels {
            if let Ok(position) = stored.binary_search(label) {
                let entry = start + position;
                self.words[entry / 64 - self.first] |= 1 << (entry % 64);
                on_hit(position);
            }
        }
    }
}

impl HitBits {
    /// None of them: memory that costs nothing until it is written to.
    pub(crate) fn new(entries: usize) -> HitBits {
        HitBits { words: bytemuck::zeroed_vec(entries.div_ceil(64)) }
    }

    /// Puts those of a block in place, of which the first and the last word may be another block's, too.
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

    /// 1 if the entry is of a true label, otherwise 0.
    #[inline]
    pub fn get(&self, entry: usize) -> u32 {
        (self.words[entry / 64].load(Ordering::Relaxed) >> (entry % 64)) as u32 & 1
    }

    /// Brings the bits of entries near, all at once. They are so few that the processor does not notice
    /// that they are read one after the other; it would wait for each anew.
    pub fn prefetch_entries(&self, entries: Range<usize>) {
        const CACHE_LINE: usize = 8;
        let words = self.words[entries.start / 64..entries.end.div_ceil(64)].iter().step_by(CACHE_LINE);
        std::hint::black_box(words.fold(0, |all, word| all ^ word.load(Ordering::Relaxed)));
    }
}
