//! The shape of a tree: how labels are divided, and divided again.

use std::ops::Range;

use rayon::prelude::*;

use super::kmeans::{cluster, sizes};
use super::representations::Representations;
use crate::random::{Purpose, RandomSequence};

/// Labels in an order in which the labels below any node are neighbours.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tree {
    pub labels: Vec<u32>,
    /// Parents come before their children; the root is the first.
    pub nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub parent: Option<usize>,
    /// The labels below, as places in the tree's list.
    pub labels: Range<usize>,
    /// Neighbours in the list of nodes; none for a leaf.
    pub children: Range<usize>,
}

impl Tree {
    /// All labels below one root.
    pub fn flat(labels: Vec<u32>) -> Tree {
        let root = Node { parent: None, labels: 0..labels.len(), children: 0..0 };
        let mut tree = Tree { labels, nodes: vec![root] };
        tree.close_node(0);
        tree
    }

    /// Divides the labels, level by level, until at most `leaf_size` are left. `number` tells the trees of a forest
    /// apart.
    pub fn grow(
        labels: Vec<u32>,
        arity: usize,
        leaf_size: usize,
        representations: &Representations,
        seed: u64,
        number: usize,
    ) -> Tree {
        let root = Node { parent: None, labels: 0..labels.len(), children: 0..0 };
        let mut tree = Tree { labels, nodes: vec![root] };
        let (mut level, mut depth) = (vec![0], 0u64);
        while !level.is_empty() {
            let (large, small): (Vec<usize>, Vec<usize>) =
                level.into_iter().partition(|&node| tree.nodes[node].labels.len() > leaf_size);
            small.into_iter().for_each(|node| tree.close_node(node));
            // The labels of nodes of one level follow each other, with gaps where a branch has ended.
            let mut rest = tree.labels.as_mut_slice();
            let mut taken = 0;
            let mut pieces = Vec::new();
            for &node in &large {
                let Range { start, end } = tree.nodes[node].labels;
                let (_, from) = rest.split_at_mut(start - taken);
                let (piece, after) = from.split_at_mut(end - start);
                pieces.push((start, piece));
                (rest, taken) = (after, end);
            }
            pieces.into_par_iter().for_each(|(start, piece)| {
                let index = (number as u64) << 48 | depth << 40 | start as u64;
                let random = RandomSequence::new(seed, Purpose::LabelTree, index);
                cluster(piece, arity.min(piece.len()), representations, random);
            });
            level = large.into_iter().flat_map(|node| tree.add_children(node, arity)).collect();
            depth += 1;
        }
        tree
    }

    fn add_children(&mut self, node: usize, arity: usize) -> Range<usize> {
        let Range { start, end } = self.nodes[node].labels;
        let children = self.nodes.len();
        let mut start = start;
        for size in sizes(end - start, arity.min(end - start)) {
            self.nodes.push(Node { parent: Some(node), labels: start..start + size, children: 0..0 });
            start += size;
        }
        self.nodes[node].children = children..self.nodes.len();
        self.nodes[node].children.clone()
    }

    /// A node that is not divided further: each of its labels becomes a leaf, unless it is one itself.
    fn close_node(&mut self, node: usize) {
        let labels = self.nodes[node].labels.clone();
        if labels.len() > 1 || self.nodes[node].parent.is_none() {
            self.add_children(node, labels.len());
        }
    }

    pub fn is_leaf(&self, node: usize) -> bool {
        self.nodes[node].children.is_empty()
    }

    /// Whether all children are leaves.
    pub fn has_only_leaves(&self, node: usize) -> bool {
        !self.is_leaf(node) && self.nodes[node].children.clone().all(|child| self.is_leaf(child))
    }
}
