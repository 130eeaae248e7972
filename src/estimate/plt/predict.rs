//! Largest marginals of many rows.
//!
//! Each row visits the units with the most probable roots first, and a unit evaluates all rows that visit it one after
//! the other, so that its weights are read once.

use std::collections::BinaryHeap;

use super::compiled_forest::{CompiledForest, UnitBuffers};
use super::forest::NO_NODE;
use super::training_set::normalised_rows;
use crate::estimate::top_marginals::{Marginal, keep_largest};
use crate::estimate::{PredictOptions, TopMarginals};
use crate::simd::with_simd;
use crate::sparse::RowsView;

/// Units that a row visits before the other rows continue: more visit some in vain, fewer make more rounds.
const UNITS_PER_ROUND: usize = 4;

/// Up to this many times as many labels as are kept, evaluating all of them is faster than choosing.
const EXHAUSTIVE_FACTOR: usize = 8;

/// Limits of the rows whose labels are all evaluated together: enough to reuse the weights of a unit, few enough for
/// the cache.
const MAX_BLOCK_ROWS: usize = 64;
const MAX_BLOCK_MARGINALS: usize = 1 << 22;

/// A unit that a row has yet to visit, by the probability of its root.
#[derive(Clone, Copy, PartialEq)]
struct QueuedUnit {
    probability: f32,
    unit: u32,
}

impl Eq for QueuedUnit {}

impl Ord for QueuedUnit {
    fn cmp(&self, other: &QueuedUnit) -> std::cmp::Ordering {
        self.probability.total_cmp(&other.probability).then(other.unit.cmp(&self.unit))
    }
}

impl PartialOrd for QueuedUnit {
    fn partial_cmp(&self, other: &QueuedUnit) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// State of the search of one row.
struct RowSearch {
    queue: BinaryHeap<QueuedUnit>,
    leaf_marginals: Vec<Marginal>,
    /// Marginal below which a label cannot be kept.
    threshold: f32,
    /// Units with leaves that may still be visited.
    leaf_units_left: usize,
}

impl CompiledForest {
    /// Returns the largest marginals of each row; exact unless `options` has a beam.
    pub(in crate::estimate) fn top_marginals(
        &self,
        rows: RowsView<'_>,
        options: PredictOptions,
    ) -> TopMarginals {
        let rows = normalised_rows(rows);
        let rows = rows.view();
        let PredictOptions { keep, beam } = options;
        let most_are_kept = beam.is_none() && self.labels <= EXHAUSTIVE_FACTOR * keep;
        with_simd(
            pulp::Arch::new(),
            #[inline(always)]
            || {
                if self.trees > 1 || most_are_kept {
                    self.exhaustive(rows, keep)
                } else {
                    self.best_first(rows, options)
                }
            },
        )
    }

    #[inline(always)]
    fn best_first(&self, rows: RowsView<'_>, options: PredictOptions) -> TopMarginals {
        let start = |_| RowSearch {
            queue: BinaryHeap::from([QueuedUnit { probability: 1.0, unit: 0 }]),
            leaf_marginals: Vec::new(),
            threshold: 0.0,
            leaf_units_left: options.beam.unwrap_or(usize::MAX),
        };
        let mut searches: Vec<RowSearch> = (0..rows.count()).map(start).collect();
        let mut visits: Vec<Vec<(u32, f32)>> = vec![Vec::new(); self.units.len()];
        let (mut buffers, mut marginals) = (UnitBuffers::default(), Vec::new());
        loop {
            for (row, search) in (0..).zip(&mut searches) {
                search.pop_units(self, |next| visits[next.unit as usize].push((row, next.probability)));
            }
            let mut any = false;
            for (unit, visitors) in visits.iter_mut().enumerate().filter(|visit| !visit.1.is_empty()) {
                any = true;
                marginals.resize(self.units[unit].count, 0.0);
                for (row, above) in visitors.drain(..) {
                    self.unit_marginals(unit, above, rows.row(row as usize), &mut buffers, &mut marginals);
                    searches[row as usize].add_unit(self, unit, &marginals, options.keep);
                }
            }
            if !any {
                break;
            }
        }
        let mut kept = TopMarginals::default();
        searches.iter_mut().for_each(|search| kept.push(&mut search.leaf_marginals, options.keep));
        kept
    }

    /// Evaluates all labels in all trees: a marginal that is small in one tree may be large in another.
    #[inline(always)]
    fn exhaustive(&self, rows: RowsView<'_>, keep: usize) -> TopMarginals {
        let (mut kept, mut buffers, mut scratch) =
            (TopMarginals::default(), UnitBuffers::default(), Vec::new());
        let nodes = self.leaf_labels.len();
        let together = (MAX_BLOCK_MARGINALS / nodes.max(1)).clamp(1, MAX_BLOCK_ROWS);
        let mut of_nodes = vec![0.0f32; together * nodes];
        let mut of_labels = vec![0.0f32; self.labels];
        let (trees, count) = (self.trees as f32, rows.count());
        for start in (0..count).step_by(together) {
            let block = start..(start + together).min(count);
            for (number, unit) in self.units.iter().enumerate() {
                for (row, of_nodes) in block.clone().zip(of_nodes.chunks_exact_mut(nodes)) {
                    let above = unit.root.map_or(1.0, |root| of_nodes[root as usize]);
                    let marginals = &mut of_nodes[unit.first..unit.first + unit.count];
                    self.unit_marginals(number, above, rows.row(row), &mut buffers, marginals);
                }
            }
            for of_nodes in of_nodes.chunks_exact(nodes).take(block.len()) {
                of_labels.fill(0.0);
                for (&label, &marginal) in self.leaf_labels.iter().zip(of_nodes) {
                    if label != NO_NODE {
                        of_labels[label as usize] += marginal;
                    }
                }
                of_labels.iter_mut().for_each(|sum| *sum /= trees);
                kept.push_dense(&of_labels, keep, &mut scratch);
            }
        }
        kept
    }

    /// Sets `marginals` to those of the nodes of a unit whose root has the marginal `above`.
    #[inline(always)]
    fn unit_marginals(
        &self,
        unit: usize,
        above: f32,
        row: (&[u32], &[f32]),
        buffers: &mut UnitBuffers,
        marginals: &mut [f32],
    ) {
        let unit = &self.units[unit];
        let probabilities = unit.probabilities(row, buffers);
        if unit.is_flat {
            marginals.iter_mut().zip(probabilities).for_each(|(marginal, p)| *marginal = above * p);
            return;
        }
        let parents = &self.parents[unit.first..unit.first + unit.count];
        for (at, (p, parent)) in probabilities.iter().zip(parents).enumerate() {
            let above = parent.map_or(above, |parent| marginals[parent as usize]);
            marginals[at] = above * p;
        }
    }
}

impl RowSearch {
    /// Calls `visit` with the units to visit in this round.
    #[inline(always)]
    fn pop_units(&mut self, forest: &CompiledForest, mut visit: impl FnMut(QueuedUnit)) {
        for _ in 0..UNITS_PER_ROUND {
            let Some(next) = self.queue.peek().copied().filter(|next| next.probability >= self.threshold)
            else {
                break;
            };
            let leaves = usize::from(forest.units[next.unit as usize].has_leaves);
            if leaves > self.leaf_units_left {
                self.queue.clear();
                break;
            }
            self.leaf_units_left -= leaves;
            self.queue.pop();
            visit(next);
        }
    }

    /// Adds the marginals of a unit: those of leaves to the result, the others to the queue.
    #[inline(always)]
    fn add_unit(&mut self, forest: &CompiledForest, unit: usize, marginals: &[f32], keep: usize) {
        let first = forest.units[unit].first;
        for (node, &marginal) in (first..).zip(marginals) {
            if marginal < self.threshold || marginal == 0.0 {
                continue;
            }
            match forest.leaf_labels[node] {
                NO_NODE => {
                    let below = forest.units_below[node].iter();
                    self.queue.extend(below.map(|&unit| QueuedUnit { probability: marginal, unit }));
                }
                label => self.leaf_marginals.push((label, marginal)),
            }
        }
        if self.leaf_marginals.len() >= 2 * keep {
            keep_largest(&mut self.leaf_marginals, keep);
            self.threshold = self.leaf_marginals[keep - 1].1;
        }
    }
}
