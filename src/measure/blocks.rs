//! The labels in pieces of a fixed size, so that a sum has the same bits for any number of threads.

use std::ops::Range;

use rayon::prelude::*;

/// Labels that are evaluated together.
pub(super) const LANES: usize = 64;

/// Labels whose partial sum is taken by one thread.
pub(super) const BLOCK: usize = 8 * LANES;

/// With fewer numbers than these the threads cost more than they save.
pub(super) const PARALLEL_FROM: usize = 32_768;

/// Calls `job` for every block of labels; the results are in the order of the blocks. `numbers` are those
/// computed for each label. What `scratch` makes is made for each thread a few times, not for each block.
pub(crate) fn map_blocks<S, R: Send>(
    labels: usize,
    numbers: usize,
    scratch: impl Fn() -> S + Sync + Send,
    job: impl Fn(&mut S, Range<usize>) -> R + Sync + Send,
) -> Vec<R> {
    let run = |scratch: &mut S, block: usize| job(scratch, block * BLOCK..labels.min((block + 1) * BLOCK));
    let blocks = labels.div_ceil(BLOCK);
    if labels.saturating_mul(numbers) >= PARALLEL_FROM {
        (0..blocks).into_par_iter().map_init(scratch, run).collect()
    } else {
        let mut scratch = scratch();
        (0..blocks).map(|block| run(&mut scratch, block)).collect()
    }
}

/// Calls `job` for every block of `out`, which it fills; the range says where the block is.
pub(crate) fn fill_blocks<T: Send>(out: &mut [T], job: impl Fn(Range<usize>, &mut [T]) + Sync + Send) {
    let run = |(block, out): (usize, &mut [T])| job(block * BLOCK..block * BLOCK + out.len(), out);
    if out.len() >= PARALLEL_FROM {
        out.par_chunks_mut(BLOCK).enumerate().for_each(run);
    } else {
        out.chunks_mut(BLOCK).enumerate().for_each(run);
    }
}

/// The range in pieces of at most [`LANES`].
pub(super) fn lanes(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(LANES).map(move |start| start..end.min(start + LANES))
}

/// The sum of what the blocks give, in an order that only depends on the number of labels.
pub(super) fn sum_blocks(labels: usize, sum: impl Fn(Range<usize>) -> f64 + Sync + Send) -> f64 {
    map_blocks(labels, 1, || (), |_, range| sum(range)).into_iter().sum()
}
