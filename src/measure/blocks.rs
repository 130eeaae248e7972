//! The labels in pieces of a fixed size, so that a sum has the same bits for any number of threads.

use std::ops::Range;

use rayon::prelude::*;

use super::confusion::{Tensor, blend, cells};

/// Labels that are evaluated together.
pub(super) const LANES: usize = 64;

/// Labels whose partial sum is taken by one thread.
pub(super) const BLOCK: usize = 8 * LANES;

/// With fewer labels the threads cost more than they save.
pub(super) const PARALLEL_FROM: usize = 32_768;

/// Calls `job` for every block of labels; the results are in the order of the blocks.
pub(super) fn map_blocks<R: Send>(labels: usize, job: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let run = |block: usize| job(block * BLOCK..labels.min((block + 1) * BLOCK));
    let blocks = labels.div_ceil(BLOCK);
    if labels >= PARALLEL_FROM {
        (0..blocks).into_par_iter().map(run).collect()
    } else {
        (0..blocks).map(run).collect()
    }
}

/// A tensor, or one on the way between two.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub from: &'a Tensor,
    /// The other end and how far it is gone.
    pub towards: Option<(&'a Tensor, f64)>,
}

impl View<'_> {
    pub(super) fn labels(&self) -> usize {
        self.from.labels()
    }

    /// The cells of at most [`LANES`] labels, by cell and lane; lanes beyond the range are 0.
    pub(super) fn load(&self, range: Range<usize>) -> [[f64; LANES]; 4] {
        let mut lanes = [[0.0; LANES]; 4];
        let from = self.from;
        let hits = &from.true_positives[range.clone()];
        let alarms = &from.false_positives[range.clone()];
        let positives = &from.positives()[range.clone()];
        let mut store = |lane: usize, hits: f64, alarms: f64| {
            let [a, b, c, d] = cells(hits, alarms, positives[lane]);
            (lanes[0][lane], lanes[1][lane], lanes[2][lane], lanes[3][lane]) = (a, b, c, d);
        };
        match self.towards {
            None => (0..range.len()).for_each(|lane| store(lane, hits[lane], alarms[lane])),
            Some((to, alpha)) => {
                let to_hits = &to.true_positives[range.clone()];
                let to_alarms = &to.false_positives[range.clone()];
                for lane in 0..range.len() {
                    let hits = blend(hits[lane], to_hits[lane], alpha);
                    store(lane, hits, blend(alarms[lane], to_alarms[lane], alpha));
                }
            }
        }
        lanes
    }
}

/// The range in pieces of at most [`LANES`].
pub(super) fn lanes(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(LANES).map(move |start| start..end.min(start + LANES))
}

/// The sum of one number a label, in an order that only depends on the number of labels.
pub(super) fn sum_labels(labels: usize, number: impl Fn(usize) -> f64 + Sync) -> f64 {
    map_blocks(labels, |range| range.map(&number).sum::<f64>()).into_iter().sum()
}
