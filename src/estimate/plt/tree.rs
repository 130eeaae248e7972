//! Shape of a tree: its nodes, and the units of nodes that are trained together.

use std::collections::VecDeque;
use std::ops::Range;

use rayon::prelude::*;

use super::kmeans::{cluster, sizes};
use super::label_vectors::LabelVectors;
use super::options::{TreeOptions, TreeShape};
use super::training_set::TrainingSet;
use crate::random::{Purpose, RandomSequence};

/// A tree of labels, in an order in which the labels below any node are consecutive.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    pub labels: Vec<u32>,
    /// Position of each label in `labels`; `u32::MAX` for labels outside the tree.
    pub positions: Vec<u32>,
    /// Parents before their children, the root first.
    pub nodes: Vec<Node>,
    /// Every node except the root is in one unit; units near the root come first.
    pub units: Vec<Unit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub parent: Option<usize>,
    /// Positions of the labels below.
    pub labels: Range<usize>,
    /// Child nodes; empty for a leaf.
    pub children: Range<usize>,
}

/// Nodes that see the same rows, or nearly so. The parent of each is the root of the unit or another of its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// The common ancestor, which belongs to another unit.
    pub root: usize,
    /// Parents before their children.
    pub nodes: Vec<usize>,
}

/// Maximum number of nodes in a unit of several levels: one vector of lanes.
pub(super) const UNIT_LANES: usize = 16;

/// Maximum number of siblings in a unit; larger groups, as in one-vs-rest, become units for several ranks.
const MAX_UNIT_NODES: usize = 128;

/// Grows the trees of a forest. They omit labels without positives, whose marginal is therefore 0.
pub(super) fn grow_trees(training_set: &TrainingSet<'_>, options: &TreeOptions) -> Vec<Tree> {
    let positives = &training_set.positives;
    let has_positives = |&label: &u32| !positives.rows(label as usize).is_empty();
    let labels: Vec<u32> = (0..positives.labels() as u32).filter(has_positives).collect();
    let mut trees = match options.shape {
        TreeShape::Flat => {
            let mut tree = Tree::new(labels);
            tree.close_node(0);
            vec![tree]
        }
        TreeShape::Trees { trees, arity, leaf_size } => {
            let vectors = LabelVectors::new(training_set);
            let grow = |number| Tree::grow(labels.clone(), arity, leaf_size, &vectors, options.seed, number);
            (0..trees as u64).map(grow).collect()
        }
    };
    for tree in &mut trees {
        tree.positions = vec![u32::MAX; positives.labels()];
        tree.labels.iter().zip(0..).for_each(|(&label, at)| tree.positions[label as usize] = at);
        tree.units = tree.group_nodes();
    }
    trees
}

impl Tree {
    fn new(labels: Vec<u32>) -> Tree {
        let root = Node { parent: None, labels: 0..labels.len(), children: 0..0 };
        Tree { labels, positions: Vec::new(), nodes: vec![root], units: Vec::new() }
    }

    /// Divides the labels, level by level, until at most `leaf_size` are left. `number` selects the random draws of a
    /// tree of the forest.
    fn grow(
        labels: Vec<u32>,
        arity: usize,
        leaf_size: usize,
        vectors: &LabelVectors,
        seed: u64,
        number: u64,
    ) -> Tree {
        let mut tree = Tree::new(labels);
        let (mut level, mut depth) = (vec![0], 0u64);
        while !level.is_empty() {
            let (large, small): (Vec<usize>, Vec<usize>) =
                level.into_iter().partition(|&node| tree.nodes[node].labels.len() > leaf_size);
            small.into_iter().for_each(|node| tree.close_node(node));
            let divide = |&node: &usize| {
                let range = tree.nodes[node].labels.clone();
                let index = number << 48 | depth << 40 | range.start as u64;
                let random = RandomSequence::new(seed, Purpose::LabelTree, index);
                cluster(tree.labels[range.clone()].to_vec(), arity.min(range.len()), vectors, random)
            };
            let divided: Vec<Vec<u32>> = large.par_iter().map(divide).collect();
            for (&node, labels) in large.iter().zip(divided) {
                tree.labels[tree.nodes[node].labels.clone()].copy_from_slice(&labels);
            }
            level = large.into_iter().flat_map(|node| tree.add_children(node, arity)).collect();
            depth += 1;
        }
        tree
    }

    fn add_children(&mut self, node: usize, arity: usize) -> Range<usize> {
        let Range { mut start, end } = self.nodes[node].labels;
        let first = self.nodes.len();
        for size in sizes(end - start, arity.min(end - start)) {
            self.nodes.push(Node { parent: Some(node), labels: start..start + size, children: 0..0 });
            start += size;
        }
        self.nodes[node].children = first..self.nodes.len();
        first..self.nodes.len()
    }

    /// Makes each label of a node a leaf, unless the node itself is one.
    fn close_node(&mut self, node: usize) {
        let labels = self.nodes[node].labels.len();
        if labels > 1 || self.nodes[node].parent.is_none() {
            self.add_children(node, labels);
        }
    }

    fn group_nodes(&self) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut roots = VecDeque::from([0]);
        while let Some(root) = roots.pop_front() {
            let mut nodes: Vec<usize> = self.nodes[root].children.clone().collect();
            let mut level = nodes.clone();
            loop {
                // The leaves below one node are a unit by themselves, because there are many of them.
                let (divided, rest): (Vec<usize>, Vec<usize>) =
                    level.iter().partition(|&&node| !self.is_leaf(node) && !self.has_only_leaves(node));
                let next: Vec<usize> =
                    divided.iter().flat_map(|&node| self.nodes[node].children.clone()).collect();
                if next.is_empty() || nodes.len() + next.len() > UNIT_LANES {
                    break;
                }
                nodes.extend(&next);
                roots.extend(rest.into_iter().filter(|&node| !self.is_leaf(node)));
                level = next;
            }
            roots.extend(level.into_iter().filter(|&node| !self.is_leaf(node)));
            units.extend(nodes.chunks(MAX_UNIT_NODES).map(|nodes| Unit { root, nodes: nodes.to_vec() }));
        }
        units
    }

    pub fn labels_below(&self, node: usize) -> &[u32] {
        &self.labels[self.nodes[node].labels.clone()]
    }

    pub fn is_leaf(&self, node: usize) -> bool {
        self.nodes[node].children.is_empty()
    }

    fn has_only_leaves(&self, node: usize) -> bool {
        self.nodes[node].children.clone().all(|child| self.is_leaf(child))
    }
}
