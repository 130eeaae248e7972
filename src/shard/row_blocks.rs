//! Rows in blocks, and blocks dealt to threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::buffers::prefault_pages;
use crate::heartbeat::beat;

/// Entries of a block: few enough to stay in a core's cache while they are looked at twice, enough to
/// make taking a block cost nothing.
const BLOCK_ENTRIES: u64 = 1 << 16;

/// Rows of a block, where they hold next to nothing.
const BLOCK_ROWS: usize = 1 << 12;

/// All rows of a shard, in blocks. Each thread has a part of its own and begins there, in every pass as
/// when the rows were loaded: so its rows lie in the memory next to it, if it stays where it is.
#[derive(Clone, Debug, Default)]
pub struct RowBlocks {
    /// First row of every block, and the end of the last.
    bounds: Vec<usize>,
}

/// A counter alone in its cache line: threads count without slowing each other down.
#[repr(align(128))]
struct Cursor(AtomicUsize);

impl RowBlocks {
    /// Blocks of about as many entries each; row `i` has those from `starts[i]` to `starts[i + 1]`.
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

    /// Gives every block (its number) to some thread, which adds it to a total of its own. Returns those
    /// totals, at most one a thread, in no particular order.
    pub fn fold<T: Send>(&self, new: impl Fn() -> T + Sync, add: impl Fn(&mut T, usize) + Sync) -> Vec<T> {
        let threads = rayon::current_num_threads();
        let parts: Vec<Range<usize>> =
            (0..threads).map(|part| self.len() * part / threads..self.len() * (part + 1) / threads).collect();
        let cursors: Vec<Cursor> = parts.iter().map(|part| Cursor(AtomicUsize::new(part.start))).collect();
        let totals = rayon::broadcast(|context| {
            let mut total = None;
            for other in 0..threads {
                // Its own part first, then what is left of the others'.
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

    /// A slice cut at `ends`, one piece a block, for whoever takes that block.
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

/// Disjoint pieces of a slice, each for the thread that has its block.
pub struct Pieces<'s, T>(Vec<Mutex<&'s mut [T]>>);

impl<T> Pieces<'_, T> {
    /// Lets `fill` write the piece of a block for the first time, all of it.
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
