//! The largest marginals of many rows: each row looks at the most probable units first, and units are read once for all the
//! rows that look at them.

use std::collections::BinaryHeap;

use super::forest::NO_NODE;
use super::ready::{ReadyForest, Seen};
use crate::estimate::{Ask, Kept, Rows};

/// Units that a row looks at before all rows go on: more are looked at in vain, fewer make more rounds.
const AT_ONCE: usize = 4;

/// Where up to so many times as many labels as are kept exist, looking at all of them takes less than choosing.
const MANY: usize = 8;

/// Rows whose labels are all looked at before the next: the weights of a unit are read once for all of them, and what is
/// found of them is near, or at least not too much.
const MOST_ROWS: usize = 64;
const MOST_NUMBERS: usize = 1 << 22;

/// A unit that a row has yet to look at, by the probability of the node above it.
#[derive(Clone, Copy, PartialEq)]
struct Waiting {
    probability: f32,
    unit: u32,
}

impl Eq for Waiting {}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> std::cmp::Ordering {
        self.probability.total_cmp(&other.probability).then(other.unit.cmp(&self.unit))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// How far one row has come.
struct Search {
    waiting: BinaryHeap<Waiting>,
    found: Vec<(u32, f32)>,
    /// What a label needs to be kept.
    least: f32,
    /// Units with leaves that may still be looked at.
    left: usize,
}

impl ReadyForest {
    /// The largest marginals of each row: exactly those that looking at every label would give, unless `ask` has a beam.
    pub(in crate::estimate) fn largest(&self, rows: Rows<'_>, ask: Ask) -> Kept {
        let unit_rows = UnitLength::new(rows);
        pulp::Arch::new().dispatch(Largest { forest: self, rows: &unit_rows, ask })
    }
}

/// Rows brought to length 1.
struct UnitLength<'r> {
    rows: Rows<'r>,
    values: Vec<f32>,
    starts: Vec<usize>,
}

impl<'r> UnitLength<'r> {
    fn new(rows: Rows<'r>) -> UnitLength<'r> {
        let (mut values, mut starts) = (Vec::with_capacity(rows.entries()), vec![0]);
        for row in 0..rows.count() {
            values.extend_from_slice(rows.row(row).1);
            super::representations::normalise(&mut values[starts[row]..]);
            starts.push(values.len());
        }
        UnitLength { rows, values, starts }
    }

    fn row(&self, row: usize) -> (&[u32], &[f32]) {
        (self.rows.row(row).0, &self.values[self.starts[row]..self.starts[row + 1]])
    }
}

struct Largest<'f, 'r> {
    forest: &'f ReadyForest,
    rows: &'f UnitLength<'r>,
    ask: Ask,
}

impl pulp::WithSimd for Largest<'_, '_> {
    type Output = Kept;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Kept {
        let Ask { keep, beam } = self.ask;
        let most_are_kept = beam.is_none() && self.forest.labels <= MANY * keep;
        if self.forest.trees > 1 || most_are_kept { self.every_label() } else { self.best_first() }
    }
}

impl Largest<'_, '_> {
    #[inline(always)]
    fn best_first(&self) -> Kept {
        let forest = self.forest;
        let start = |_| Search {
            waiting: BinaryHeap::from([Waiting { probability: 1.0, unit: 0 }]),
            found: Vec::new(),
            least: 0.0,
            left: self.ask.beam.unwrap_or(usize::MAX),
        };
        let mut searches: Vec<Search> = (0..self.rows.rows.count()).map(start).collect();
        let mut asked: Vec<Vec<(u32, f32)>> = vec![Vec::new(); forest.units.len()];
        let mut seen = Seen::default();
        let mut marginals = Vec::new();
        loop {
            for (row, search) in (0..).zip(&mut searches) {
                search
                    .choose(forest, |waiting| asked[waiting.unit as usize].push((row, waiting.probability)));
            }
            let mut any = false;
            for (unit, asking) in asked.iter_mut().enumerate().filter(|(_, asking)| !asking.is_empty()) {
                any = true;
                marginals.resize(forest.units[unit].count, 0.0);
                for (row, above) in asking.drain(..) {
                    let (columns, values) = self.rows.row(row as usize);
                    forest.look(unit, above, columns, values, &mut seen, &mut marginals);
                    searches[row as usize].add(forest, unit, &marginals, self.ask.keep);
                }
            }
            if !any {
                break;
            }
        }
        let mut kept = Kept::default();
        searches.iter_mut().for_each(|search| kept.push(&mut search.found, self.ask.keep));
        kept
    }

    /// Of all trees: a label may be small in one and large in another, so they are added up.
    #[inline(always)]
    fn every_label(&self) -> Kept {
        let forest = self.forest;
        let (mut kept, mut seen, mut scratch) = (Kept::default(), Seen::default(), Vec::new());
        let nodes = forest.leaf_labels.len();
        let together = (MOST_NUMBERS / nodes.max(1)).clamp(1, MOST_ROWS);
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
                    forest.look(number, above, columns, values, &mut seen, marginals);
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
                kept.push_all(&of_labels, self.ask.keep, &mut scratch);
            }
        }
        kept
    }
}

impl ReadyForest {
    /// Makes `marginals` those of the nodes of a unit, as many as there are, below a node with the marginal `above`.
    #[inline(always)]
    fn look(
        &self,
        unit: usize,
        above: f32,
        columns: &[u32],
        values: &[f32],
        seen: &mut Seen,
        marginals: &mut [f32],
    ) {
        let unit = &self.units[unit];
        let own = unit.probabilities(columns, values, seen);
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

impl Search {
    /// Takes the units that this row looks at next.
    #[inline(always)]
    fn choose(&mut self, forest: &ReadyForest, mut take: impl FnMut(Waiting)) {
        for _ in 0..AT_ONCE {
            let Some(next) = self.waiting.peek().copied().filter(|next| next.probability >= self.least)
            else {
                break;
            };
            let leaves = usize::from(forest.units[next.unit as usize].has_leaves);
            if leaves > self.left {
                self.waiting.clear();
                break;
            }
            self.left -= leaves;
            self.waiting.pop();
            take(next);
        }
    }

    /// Takes over what a look at a unit has found.
    #[inline(always)]
    fn add(&mut self, forest: &ReadyForest, unit: usize, marginals: &[f32], keep: usize) {
        let first = forest.units[unit].first;
        for (node, &marginal) in (first..).zip(marginals) {
            if marginal < self.least || marginal == 0.0 {
                continue;
            }
            match forest.leaf_labels[node] {
                NO_NODE => {
                    let below = forest.below[node].iter();
                    self.waiting.extend(below.map(|&unit| Waiting { probability: marginal, unit }));
                }
                label => self.found.push((label, marginal)),
            }
        }
        if self.found.len() >= 2 * keep {
            self.found.select_nth_unstable_by(keep - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            self.found.truncate(keep);
            self.least = self.found[keep - 1].1;
        }
    }
}
