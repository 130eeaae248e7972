//! True labels, and which of the stored marginals are theirs.

use std::sync::atomic::{AtomicU64, Ordering};

use super::marginals::Marginals;
use crate::store::Csr;

/// The true labels of a range of rows.
pub struct Truth {
    labels: Csr,
    hits: Hits,
}

impl Truth {
    /// The labels of the rows of `marginals`.
    ///
    /// # Panics
    /// If the number of rows differs.
    pub fn new(labels: Csr, marginals: &Marginals) -> Truth {
        assert_eq!(labels.rows(), marginals.rows(), "labels of the same rows");
        let hits = Hits::new(marginals.entries());
        let mut row: Vec<u32> = Vec::new();
        for local in 0..labels.rows() {
            row.clear();
            row.extend(marginals.labelled(local).map(|entry| entry.0));
            hits.mark(marginals.start(local), &row, columns(&labels, local), |_| ());
        }
        Truth { labels, hits }
    }

    pub(super) fn from_parts(labels: Csr, hits: Hits) -> Truth {
        Truth { labels, hits }
    }

    pub fn labels(&self) -> &Csr {
        &self.labels
    }

    /// The labels of row `local`, ascending.
    #[inline]
    pub fn row(&self, local: usize) -> &[u32] {
        columns(&self.labels, local)
    }

    pub fn hits(&self) -> &Hits {
        &self.hits
    }
}

/// The columns of row `local` of a matrix.
#[inline]
pub(super) fn columns(matrix: &Csr, local: usize) -> &[u32] {
    let indptr = matrix.indptr();
    let indptr = indptr.raw_storage();
    &matrix.indices()[indptr[local]..indptr[local + 1]]
}

/// One bit for each stored entry: whether its row has that label. A pass that picks entries then needs to
/// look for nothing.
pub struct Hits {
    /// Threads fill in rows side by side, and two rows may share a word.
    words: Vec<AtomicU64>,
}

impl Hits {
    pub(super) fn new(entries: usize) -> Hits {
        Hits { words: (0..entries.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Marks the entries of a row that are among `truth`, and tells their positions; the first entry is number `start`. Both
    /// ascend.
    pub(super) fn mark(&self, start: usize, stored: &[u32], truth: &[u32], mut tell: impl FnMut(usize)) {
        for label in truth {
            if let Ok(position) = stored.binary_search(label) {
                let entry = start + position;
                self.words[entry / 64].fetch_or(1 << (entry % 64), Ordering::Relaxed);
                tell(position);
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
    pub fn read_ahead(&self, entries: std::ops::Range<usize>) {
        const CACHE_LINE: usize = 8;
        let words = self.words[entries.start / 64..entries.end.div_ceil(64)].iter().step_by(CACHE_LINE);
        std::hint::black_box(words.fold(0, |all, word| all ^ word.load(Ordering::Relaxed)));
    }
}
