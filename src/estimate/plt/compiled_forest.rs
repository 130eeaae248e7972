//! A forest in the layout that predictions read: dense weights per unit.

#![allow(clippy::needless_range_loop, reason = "lanes of several vectors side by side")]

use super::feature_set::FeatureSet;
use super::forest::{Forest, NO_NODE};
use super::node_models::NodeModels;
use crate::estimate::vector_math::tree_sigmoid;

/// A unit, all nodes of which are evaluated together as lanes of vectors.
pub(super) struct CompiledUnit {
    /// The node above, which is evaluated before; `None` for the root of a tree.
    pub root: Option<u32>,
    pub first: usize,
    /// Number of nodes.
    pub count: usize,
    pub has_leaves: bool,
    /// Whether all nodes are children of `root`.
    pub is_flat: bool,
    features: FeatureSet,
    /// For each feature the weight of each lane; 0 in lanes beyond the nodes.
    weights: Vec<f32>,
    lanes: usize,
    biases: Vec<f32>,
}

pub struct CompiledForest {
    pub(super) labels: usize,
    pub(super) trees: usize,
    pub(super) units: Vec<CompiledUnit>,
    /// Parent of each node, as an index into its unit; `None` if it is in another unit.
    pub(super) parents: Vec<Option<u32>>,
    pub(super) leaf_labels: Vec<u32>,
    /// The units below each node.
    pub(super) units_below: Vec<Vec<u32>>,
}

/// Lanes that are summed up in registers together: as many as fit into wide vectors, then fewer for the rest.
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
        let NodeModels { biases, starts, columns, .. } = &self.models;
        let used = starts[first] as usize..starts[nodes.end] as usize;
        let features = FeatureSet::new(&columns[used], self.features);
        let lanes = count.next_multiple_of(NARROW_LANES);
        let mut weights = vec![0.0; features.count() * lanes];
        for (lane, node) in nodes.clone().enumerate() {
            let (columns, values) = self.models.node(node);
            for (&column, &value) in columns.iter().zip(values) {
                let number = features.index_of(column).expect("the set contains these features");
                weights[number as usize * lanes + lane] = value;
            }
        }
        let mut biases = biases[nodes.clone()].to_vec();
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

/// Buffers for evaluating a unit.
#[derive(Default)]
pub(super) struct UnitBuffers {
    /// Features of the row, as numbers within the unit, and their values.
    entries: Vec<(u32, f32)>,
    scores: Vec<f32>,
}

impl CompiledUnit {
    /// Returns the probability of each node given its parent, for a row of length 1.
    #[inline(always)]
    pub fn probabilities<'s>(
        &self,
        (columns, values): (&[u32], &[f32]),
        buffers: &'s mut UnitBuffers,
    ) -> &'s [f32] {
        let UnitBuffers { entries, scores } = buffers;
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
            *score = tree_sigmoid(*score + bias);
        }
        &scores[..self.count]
    }

    /// Sums up some lanes, each in the order of the row's features.
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
