//! Blocks of rows, and their distribution over threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::buffers::prefault_pages;
use crate::heartbeat::beat;

/// Entries of a block: few enough to stay in a core's cache between two uses, enough to make taking a block cheap.
const BLOCK_ENTRIES: u64 = 1 << 16;

/// Limit of a block's rows, for rows with few entries.
const BLOCK_ROWS: usize = 1 << 12;

/// All rows of a shard, in blocks. Each thread starts with its own part, in every pass as in loading, so that a pinned
/// thread finds its rows in the memory close to it.
#[derive(Clone, Debug, Default)]
pub struct RowBlocks {
    /// First row of every block, and the end of the last one.
    bounds: Vec<usize>,
}

/// A counter in its own cache line, so that threads do not slow each other down.
#[repr(align(128))]
struct Cursor(AtomicUsize);

impl RowBlocks {
    /// Cuts rows into blocks with about as many entries each; row `i` has the entries `starts[i]..starts[i + 1]`.
    pub fn new(starts: &[u64]) -> RowBlocks {
        let rows = starts.len().saturating_sub(1);
        let mut bounds = vec![0];
        let mut first = 0;
        while first < rows {
            let full = starts[first + 1..=(first + BLOCK_ROWS).min(rows)]
                .partition_point(|&end| end - starts[first] <= BLOCK_ENTRIES);
            first += full.max(1);
            bounds.push(first);
        }
        RowBlocks { bounds }
    }

    pub fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn rows(&self, block: usize) -> Range<usize> {
        self.bounds[block]..self.bounds[block + 1]
    }

    /// Lets threads `add` the blocks, given by number, to one total per thread. Returns the totals in no particular
    /// order; a thread without a block has none.
    pub fn fold<T: Send>(&self, new: impl Fn() -> T + Sync, add: impl Fn(&mut T, usize) + Sync) -> Vec<T> {
        let threads = rayon::current_num_threads();
        let parts: Vec<Range<usize>> =
            (0..threads).map(|part| self.len() * part / threads..self.len() * (part + 1) / threads).collect();
        let cursors: Vec<Cursor> = parts.iter().map(|part| Cursor(AtomicUsize::new(part.start))).collect();
        let totals = rayon::broadcast(|context| {
            let mut total = None;
            for other in 0..threads {
                // Its own part first, then the rest of the others'.
                let part = (context.index() + other) % threads;
                loop {
                    let block = cursors[part].0.fetch_add(1, Ordering::Relaxed);
                    if block >= parts[part].end {
                        break;
                    }
                    add(total.get_or_insert_with(&new), block);
                    beat();
                }
            }
            total
        });
        totals.into_iter().flatten().collect()
    }

    /// Cuts a slice into one piece per block; `end` gives the subscript behind a number of rows.
    pub fn pieces<'s, T>(&self, mut slice: &'s mut [T], end: impl Fn(usize) -> usize) -> Pieces<'s, T> {
        let mut pieces = Vec::with_capacity(self.len());
        let mut start = 0;
        for &row in self.bounds.iter().skip(1) {
            let (piece, rest) = slice.split_at_mut(end(row) - start);
            pieces.push(Mutex::new(piece));
            slice = rest;
            start = end(row);
        }
        Pieces(pieces)
    }
}

/// Disjoint pieces of a slice, each for the thread that has the block.
pub struct Pieces<'s, T>(Vec<Mutex<&'s mut [T]>>);

impl<T> Pieces<'_, T> {
    /// Lets `fill` write the whole piece of a block for the first time.
    pub fn with_untouched<R>(&self, block: usize, fill: impl FnOnce(&mut [T]) -> R) -> R {
        self.with(block, |piece| {
            prefault_pages(piece);
            fill(piece)
        })
    }

    /// Lets `fill` write the piece of a block.
    pub fn with<R>(&self, block: usize, fill: impl FnOnce(&mut [T]) -> R) -> R {
        fill(&mut self.0[block].lock().unwrap_or_else(PoisonError::into_inner))
    }
}
