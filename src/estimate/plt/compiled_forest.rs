//! A forest, made ready to be asked about many rows.

#![allow(clippy::needless_range_loop, reason = "lanes of several vectors side by side")]

use super::feature_set::FeatureSet;
use super::forest::{Forest, NO_NODE};
use super::sigmoid::sigmoid;

/// The weights of a unit, feature by feature: all nodes of a unit are asked at once.
pub(super) struct CompiledUnit {
    /// The node above, which must have been asked before; none above the root of a tree.
    pub root: Option<u32>,
    /// The first node of the unit, and how many there are.
    pub first: usize,
    pub count: usize,
    /// Whether any of its nodes is a leaf.
    pub has_leaves: bool,
    /// Whether all of its nodes are children of the node above.
    pub is_flat: bool,
    features: FeatureSet,
    /// For each feature a weight for each lane; lanes beyond the nodes are 0.
    weights: Vec<f32>,
    lanes: usize,
    biases: Vec<f32>,
}

pub struct CompiledForest {
    pub(super) labels: usize,
    pub(super) trees: usize,
    pub(super) units: Vec<CompiledUnit>,
    /// For each node: the parent if it is in the same unit, as a place there, and the label of a leaf.
    pub(super) parents: Vec<Option<u32>>,
    pub(super) leaf_labels: Vec<u32>,
    /// The units whose root a node is.
    pub(super) units_below: Vec<Vec<u32>>,
}

/// Lanes of the widest vector that is worth keeping in registers, of a middle one, and of the narrowest.
const WIDE_LANES: usize = 64;
const MIDDLE_LANES: usize = 32;
const NARROW_LANES: usize = 8;

impl Forest {
    pub fn compile(&self) -> CompiledForest {
        let mut units: Vec<CompiledUnit> =
            (0..self.unit_count()).map(|unit| self.compile_unit(unit)).collect();
        let mut units_below = vec![Vec::new(); self.nodes()];
        let mut parents = vec![None; self.nodes()];
        for (number, unit) in (0..).zip(&mut units) {
            if let Some(root) = unit.root {
                units_below[root as usize].push(number);
            }
            for node in unit.first..unit.first + unit.count {
                let parent = self.parents[node];
                if parent != NO_NODE && parent as usize >= unit.first {
                    parents[node] = Some(parent - unit.first as u32);
                    unit.is_flat = false;
                }
            }
        }
        let leaf_labels = self.leaf_labels.clone();
        CompiledForest { labels: self.labels, trees: self.trees, units, parents, leaf_labels, units_below }
    }

    fn compile_unit(&self, unit: usize) -> CompiledUnit {
        let nodes = self.unit(unit);
        let (first, count) = (nodes.start, nodes.len());
        let used = self.starts[first] as usize..self.starts[nodes.end] as usize;
        let features = FeatureSet::new(&self.columns[used], self.features);
        let lanes = count.next_multiple_of(NARROW_LANES);
        let mut weights = vec![0.0; features.count() * lanes];
        for (lane, node) in nodes.clone().enumerate() {
            let (columns, values) = self.node(node);
            for (&column, &value) in columns.iter().zip(values) {
                let number = features.index_of(column).expect("the set was made of these features");
                weights[number as usize * lanes + lane] = value;
            }
        }
        let mut biases = self.biases[nodes.clone()].to_vec();
        biases.resize(lanes, 0.0);
        let above = nodes
            .clone()
            .map(|node| self.parents[node])
            .find(|&parent| (parent as usize) < first || parent == NO_NODE);
        let root = above.filter(|&parent| parent != NO_NODE);
        let has_leaves = nodes.clone().any(|node| self.leaf_labels[node] != NO_NODE);
        CompiledUnit { root, first, count, has_leaves, is_flat: true, features, weights, lanes, biases }
    }
}

/// A row as a unit sees it.
#[derive(Default)]
pub(super) struct UnitScratch {
    /// Where the weights of a feature begin, and the feature's value.
    entries: Vec<(u32, f32)>,
    scores: Vec<f32>,
}

impl CompiledUnit {
    /// The probability of each node of the unit, given its parent, for one row whose length is 1.
    #[inline(always)]
    pub fn probabilities<'s>(
        &self,
        columns: &[u32],
        values: &[f32],
        scratch_space: &'s mut UnitScratch,
    ) -> &'s [f32] {
        let UnitScratch { entries, scores } = scratch_space;
        entries.clear();
        for (&column, &value) in columns.iter().zip(values) {
            if let Some(number) = self.features.index_of(column) {
                entries.push((number, value));
            }
        }
        scores.resize(self.lanes.max(scores.len()), 0.0);
        let mut lane = 0;
        while lane + WIDE_LANES <= self.lanes {
            self.add_weights::<WIDE_LANES>(entries, lane, scores);
            lane += WIDE_LANES;
        }
        while lane + MIDDLE_LANES <= self.lanes {
            self.add_weights::<MIDDLE_LANES>(entries, lane, scores);
            lane += MIDDLE_LANES;
        }
        while lane < self.lanes {
            self.add_weights::<NARROW_LANES>(entries, lane, scores);
            lane += NARROW_LANES;
        }
        for (score, bias) in scores.iter_mut().zip(&self.biases) {
            *score = sigmoid(*score + bias);
        }
        &scores[..self.count]
    }

    /// Each lane adds up in the order of the features.
    #[inline(always)]
    fn add_weights<const LANES: usize>(&self, entries: &[(u32, f32)], lane: usize, scores: &mut [f32]) {
        let mut sums = [0.0f32; LANES];
        for &(number, value) in entries {
            let start = number as usize * self.lanes + lane;
            let weights = &self.weights[start..start + LANES];
            for at in 0..LANES {
                sums[at] += value * weights[at];
            }
        }
        scores[lane..lane + LANES].copy_from_slice(&sums);
    }
}
