//! Which nodes are trained and asked together: those that see the same rows, or nearly so.

use std::collections::VecDeque;

use super::tree::Tree;

/// Nodes below a common ancestor. The parent of each is the ancestor or another of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// The ancestor; its own node is in another unit.
    pub root: usize,
    /// Parents come before their children.
    pub nodes: Vec<usize>,
}

/// Nodes of different levels share a unit up to this number: one vector of lanes.
pub(super) const UNIT_LANES: usize = 16;

/// Nodes of one level share a unit up to this number; more of them, as one-vs-rest has, are work for several ranks.
const MAX_UNIT_NODES: usize = 128;

/// The units of a tree, each node but the root in one of them; those higher up come first.
pub(super) fn units_of(tree: &Tree) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut roots = VecDeque::from([0]);
    while let Some(root) = roots.pop_front() {
        let mut nodes: Vec<usize> = tree.nodes[root].children.clone().collect();
        let mut level = nodes.clone();
        loop {
            // What has only leaves below is a unit by itself: there are many of them.
            let divided = level.iter().filter(|&&node| !tree.is_leaf(node) && !tree.has_only_leaves(node));
            let next: Vec<usize> = divided.flat_map(|&node| tree.nodes[node].children.clone()).collect();
            if next.is_empty() || nodes.len() + next.len() > UNIT_LANES {
                break;
            }
            nodes.extend(&next);
            level.retain(|&node| !tree.is_leaf(node) && tree.has_only_leaves(node));
            roots.extend(std::mem::replace(&mut level, next));
        }
        roots.extend(level.into_iter().filter(|&node| !tree.is_leaf(node)));
        units.extend(nodes.chunks(MAX_UNIT_NODES).map(|nodes| Unit { root, nodes: nodes.to_vec() }));
    }
    units
}
