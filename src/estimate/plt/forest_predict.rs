//! The largest marginals of many rows: each row looks at the most probable units first, and units are read once for all the
//! rows that look at them.

use std::collections::BinaryHeap;

use super::compiled_forest::{CompiledForest, UnitScratch};
use super::forest::NO_NODE;
use crate::estimate::{PredictOptions, TopMarginals};
use crate::sparse::RowsView;

/// Units that a row looks at before all rows go on: more are looked at in vain, fewer make more rounds.
const UNITS_PER_ROUND: usize = 4;

/// Where up to so many times as many labels as are kept exist, looking at all of them takes less than choosing.
const EXHAUSTIVE_FACTOR: usize = 8;

/// Rows whose labels are all looked at before the next: the weights of a unit are read once for all of them, and what is
/// found of them is near, or at least not too much.
const MAX_BLOCK_ROWS: usize = 64;
const MAX_BLOCK_MARGINALS: usize = 1 << 22;

/// A unit that a row has yet to look at, by the probability of the node above it.
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

/// How far one row has come.
struct RowQueue {
    waiting: BinaryHeap<QueuedUnit>,
    leaf_marginals: Vec<(u32, f32)>,
    /// What a label needs to be kept.
    threshold: f32,
    /// Units with leaves that may still be looked at.
    leaf_units_left: usize,
}

impl CompiledForest {
    /// The largest marginals of each row: exactly those that looking at every label would give, unless `options` has a beam.
    pub(in crate::estimate) fn top_marginals(
        &self,
        rows: RowsView<'_>,
        options: PredictOptions,
    ) -> TopMarginals {
        let unit_rows = NormalisedRows::new(rows);
        pulp::Arch::new().dispatch(ForestPrediction { forest: self, rows: &unit_rows, options })
    }
}

/// Rows brought to length 1.
struct NormalisedRows<'r> {
    rows: RowsView<'r>,
    values: Vec<f32>,
    starts: Vec<usize>,
}

impl<'r> NormalisedRows<'r> {
    fn new(rows: RowsView<'r>) -> NormalisedRows<'r> {
        let (mut values, mut starts) = (Vec::with_capacity(rows.entries()), vec![0]);
        for row in 0..rows.count() {
            values.extend_from_slice(rows.row(row).1);
            super::representations::normalise(&mut values[starts[row]..]);
            starts.push(values.len());
        }
        NormalisedRows { rows, values, starts }
    }

    fn row(&self, row: usize) -> (&[u32], &[f32]) {
        (self.rows.row(row).0, &self.values[self.starts[row]..self.starts[row + 1]])
    }
}

struct ForestPrediction<'f, 'r> {
    forest: &'f CompiledForest,
    rows: &'f NormalisedRows<'r>,
    options: PredictOptions,
}

impl pulp::WithSimd for ForestPrediction<'_, '_> {
    type Output = TopMarginals;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> TopMarginals {
        let PredictOptions { keep, beam } = self.options;
        let most_are_kept = beam.is_none() && self.forest.labels <= EXHAUSTIVE_FACTOR * keep;
        if self.forest.trees > 1 || most_are_kept { self.exhaustive() } else { self.best_first() }
    }
}

impl ForestPrediction<'_, '_> {
    #[inline(always)]
    fn best_first(&self) -> TopMarginals {
        let forest = self.forest;
        let start = |_| RowQueue {
            waiting: BinaryHeap::from([QueuedUnit { probability: 1.0, unit: 0 }]),
            leaf_marginals: Vec::new(),
            threshold: 0.0,
            leaf_units_left: self.options.beam.unwrap_or(usize::MAX),
        };
        let mut queues: Vec<RowQueue> = (0..self.rows.rows.count()).map(start).collect();
        let mut asked: Vec<Vec<(u32, f32)>> = vec![Vec::new(); forest.units.len()];
        let mut scratch_space = UnitScratch::default();
        let mut marginals = Vec::new();
        loop {
            for (row, queue) in (0..).zip(&mut queues) {
                queue.pop_units(forest, |waiting| {
                    asked[waiting.unit as usize].push((row, waiting.probability))
                });
            }
            let mut any = false;
            for (unit, asking) in asked.iter_mut().enumerate().filter(|(_, asking)| !asking.is_empty()) {
                any = true;
                marginals.resize(forest.units[unit].count, 0.0);
                for (row, above) in asking.drain(..) {
                    let (columns, values) = self.rows.row(row as usize);
                    forest.unit_marginals(unit, above, columns, values, &mut scratch_space, &mut marginals);
                    queues[row as usize].add_unit(forest, unit, &marginals, self.options.keep);
                }
            }
            if !any {
                break;
            }
        }
        let mut kept = TopMarginals::default();
        queues.iter_mut().for_each(|queue| kept.push(&mut queue.leaf_marginals, self.options.keep));
        kept
    }

    /// Of all trees: a label may be small in one and large in another, so they are added up.
    #[inline(always)]
    fn exhaustive(&self) -> TopMarginals {
        let forest = self.forest;
        let (mut kept, mut scratch_space, mut scratch) =
            (TopMarginals::default(), UnitScratch::default(), Vec::new());
        let nodes = forest.leaf_labels.len();
        let together = (MAX_BLOCK_MARGINALS / nodes.max(1)).clamp(1, MAX_BLOCK_ROWS);
        let mut of_nodes = vec![0.0f32; together * nodes];
        let mut of_labels = vec![0.0f32; forest.labels];
        let (share, count) = (forest.trees as f32, self.rows.rows.count());
        for start in (0..count).step_by(together) {
            let rows = start..(start + together).min(count);
            for (number, unit) in forest.units.iter().enumerate() {
                for (row, of_nodes) in rows.clone().zip(of_nodes.chunks_exact_mut(nodes)) {
                    let above = unit.root.map_or(1.0, |root| of_nodes[root as usize]);
                    let (columns, values) = self.rows.row(row);
                    let marginals = &mut of_nodes[unit.first..unit.first + unit.count];
                    forest.unit_marginals(number, above, columns, values, &mut scratch_space, marginals);
                }
            }
            for of_nodes in of_nodes.chunks_exact(nodes).take(rows.len()) {
                of_labels.fill(0.0);
                for (&label, &marginal) in forest.leaf_labels.iter().zip(of_nodes) {
                    if label != NO_NODE {
                        of_labels[label as usize] += marginal;
                    }
                }
                of_labels.iter_mut().for_each(|sum| *sum /= share);
                kept.push_dense(&of_labels, self.options.keep, &mut scratch);
            }
        }
        kept
    }
}

impl CompiledForest {
    /// Makes `marginals` those of the nodes of a unit, as many as there are, below a node with the marginal `above`.
    #[inline(always)]
    fn unit_marginals(
        &self,
        unit: usize,
        above: f32,
        columns: &[u32],
        values: &[f32],
        scratch_space: &mut UnitScratch,
        marginals: &mut [f32],
    ) {
        let unit = &self.units[unit];
        let own = unit.probabilities(columns, values, scratch_space);
        if unit.is_flat {
            marginals.iter_mut().zip(own).for_each(|(marginal, own)| *marginal = above * own);
            return;
        }
        let parents = &self.parents[unit.first..unit.first + unit.count];
        for (at, (own, parent)) in own.iter().zip(parents).enumerate() {
            let above = parent.map_or(above, |parent| marginals[parent as usize]);
            marginals[at] = above * own;
        }
    }
}

impl RowQueue {
    /// Takes the units that this row looks at next.
    #[inline(always)]
    fn pop_units(&mut self, forest: &CompiledForest, mut take: impl FnMut(QueuedUnit)) {
        for _ in 0..UNITS_PER_ROUND {
            let Some(next) = self.waiting.peek().copied().filter(|next| next.probability >= self.threshold)
            else {
                break;
            };
            let leaves = usize::from(forest.units[next.unit as usize].has_leaves);
            if leaves > self.leaf_units_left {
                self.waiting.clear();
                break;
            }
            self.leaf_units_left -= leaves;
            self.waiting.pop();
            take(next);
        }
    }

    /// Takes over what a look at a unit has found.
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
                    self.waiting.extend(below.map(|&unit| QueuedUnit { probability: marginal, unit }));
                }
                label => self.leaf_marginals.push((label, marginal)),
            }
        }
        if self.leaf_marginals.len() >= 2 * keep {
            self.leaf_marginals
                .select_nth_unstable_by(keep - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            self.leaf_marginals.truncate(keep);
            self.threshold = self.leaf_marginals[keep - 1].1;
        }
    }
}
