//! Labels in pieces of a fixed size, so that sums have the same bits for any number of threads.

use std::ops::Range;

use rayon::prelude::*;

/// Labels that are evaluated together.
pub(super) const LANES: usize = 64;

/// Labels with one partial sum.
pub(super) const BLOCK_LABELS: usize = 8 * LANES;

/// Blocks that are evaluated for all step sizes while they are in the cache.
pub(super) const GROUP_BLOCKS: usize = 8;

pub(super) const GROUP_LABELS: usize = GROUP_BLOCKS * BLOCK_LABELS;

/// The smallest number of blocks for which the hand-over to a thread pays off.
pub(super) const MIN_TASK_BLOCKS: usize = 32;

/// The smallest amount of numbers for which threads save time.
pub(super) const PARALLEL_FROM: usize = 32_768;

/// Calls `job` for every group of labels. The results are in the order of the groups. `numbers` is the work per label, and
/// `scratch` is called a few times per thread.
pub(super) fn map_groups<S, R: Send>(
    labels: usize,
    numbers: usize,
    scratch: impl Fn() -> S + Sync + Send,
    job: impl Fn(&mut S, Range<usize>) -> R + Sync + Send,
) -> Vec<R> {
    map_pieces::<GROUP_LABELS, _, _>(labels, labels.saturating_mul(numbers), scratch, job)
}

fn map_pieces<const PIECE: usize, S, R: Send>(
    labels: usize,
    work: usize,
    scratch: impl Fn() -> S + Sync + Send,
    job: impl Fn(&mut S, Range<usize>) -> R + Sync + Send,
) -> Vec<R> {
    let run = |scratch: &mut S, piece: usize| job(scratch, piece * PIECE..labels.min((piece + 1) * PIECE));
    let pieces = labels.div_ceil(PIECE);
    if work >= PARALLEL_FROM {
        let task = (MIN_TASK_BLOCKS * BLOCK_LABELS / PIECE).max(1);
        (0..pieces).into_par_iter().with_min_len(task).map_init(scratch, run).collect()
    } else {
        let mut scratch = scratch();
        (0..pieces).map(|piece| run(&mut scratch, piece)).collect()
    }
}

/// Calls `job` to fill every block of `out`, with the range of its labels.
pub(crate) fn fill_blocks<T: Send>(out: &mut [T], job: impl Fn(Range<usize>, &mut [T]) + Sync + Send) {
    let run =
        |(block, out): (usize, &mut [T])| job(block * BLOCK_LABELS..block * BLOCK_LABELS + out.len(), out);
    if out.len() >= PARALLEL_FROM {
        out.par_chunks_mut(BLOCK_LABELS).with_min_len(MIN_TASK_BLOCKS).enumerate().for_each(run);
    } else {
        out.chunks_mut(BLOCK_LABELS).enumerate().for_each(run);
    }
}

/// Splits a range into pieces of at most [`LANES`].
#[inline(always)]
pub(super) fn lane_ranges(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(LANES).map(move |start| start..end.min(start + LANES))
}

/// Adds the results of the blocks, in an order that only depends on the number of labels.
pub(super) fn sum_blocks(labels: usize, sum: impl Fn(Range<usize>) -> f64 + Sync + Send) -> f64 {
    map_pieces::<BLOCK_LABELS, _, _>(labels, labels, || (), |_, block| sum(block)).into_iter().sum()
}
