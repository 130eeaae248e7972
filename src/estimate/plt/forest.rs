//! A trained forest: trees, and the weights of their nodes.

use std::ops::Range;

/// What stands for "none" where a node or a label is named.
pub const NO_NODE: u32 = u32::MAX;

/// Trees in one list of nodes. Parents come before their children. The nodes of a *unit* are neighbours: they were
/// trained together and are asked together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forest {
    pub features: usize,
    pub labels: usize,
    pub trees: usize,
    /// Of each node; [`NO_NODE`] for the root of a tree.
    pub parents: Vec<u32>,
    /// Of each node; [`NO_NODE`] for nodes that are no leaves.
    pub leaf_labels: Vec<u32>,
    /// Where the nodes of each unit begin, and those of the last one end.
    pub units: Vec<u64>,
    /// Log-odds of each node where all features are 0; infinite for a root that every row reaches.
    pub biases: Vec<f32>,
    /// Where the weights of each node begin, and those of the last one end.
    pub starts: Vec<u64>,
    /// Features, ascending for each node, and their weights.
    pub columns: Vec<u32>,
    pub weights: Vec<f32>,
}

impl Forest {
    pub fn nodes(&self) -> usize {
        self.parents.len()
    }

    /// The nodes of a unit.
    pub fn unit(&self, unit: usize) -> Range<usize> {
        self.units[unit] as usize..self.units[unit + 1] as usize
    }

    pub fn unit_count(&self) -> usize {
        self.units.len() - 1
    }

    /// The features of a node and their weights.
    pub fn node(&self, node: usize) -> (&[u32], &[f32]) {
        let entries = self.starts[node] as usize..self.starts[node + 1] as usize;
        (&self.columns[entries.clone()], &self.weights[entries])
    }
}
