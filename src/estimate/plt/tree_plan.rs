//! From lessons to trees, and from trained units to a forest.

use super::forest::{Forest, NO_NODE};
use super::options::{TreeOptions, TreeShape};
use super::positives::Positives;
use super::representations::Representations;
use super::tree::Tree;
use super::unit_model::UnitModel;
use super::unit_rows::TrainingSet;
use super::units::{Unit, units_of};

/// A tree whose nodes are arranged in units, and where in it each label is.
pub(super) struct TreePlan {
    pub tree: Tree,
    pub units: Vec<Unit>,
    /// The place of each label; the largest number for those that are not in the tree.
    pub position_of: Vec<u32>,
}

impl TreePlan {
    pub fn new(tree: Tree, labels: usize) -> TreePlan {
        let mut position_of = vec![u32::MAX; labels];
        tree.labels.iter().zip(0..).for_each(|(&label, place)| position_of[label as usize] = place);
        TreePlan { units: units_of(&tree), tree, position_of }
    }

    pub fn labels_below(&self, node: usize) -> &[u32] {
        &self.tree.labels[self.tree.nodes[node].labels.clone()]
    }
}

/// The trees of a forest. Labels without a positive instance are in none of them: nothing is known about them but that
/// they did not occur, and their marginal is 0.
pub(super) fn grow_trees(training_set: &TrainingSet<'_>, options: &TreeOptions) -> Vec<Tree> {
    let positives: &Positives = &training_set.positives;
    let known = |&label: &u32| !positives.rows(label as usize).is_empty();
    let labels: Vec<u32> = (0..positives.labels() as u32).filter(known).collect();
    match options.shape {
        TreeShape::Flat => vec![Tree::flat(labels)],
        TreeShape::Trees { trees, arity, leaf_size } => {
            let representations = Representations::new(training_set.features, training_set.width, positives);
            (0..trees)
                .map(|number| {
                    Tree::grow(labels.clone(), arity, leaf_size, &representations, options.seed, number)
                })
                .collect()
        }
    }
}

/// Puts the nodes of all trees together: for each tree its root, then its units. `models` has them in that order.
pub(super) fn assemble_forest(trees: &[TreePlan], features: usize, models: &[UnitModel]) -> Forest {
    let mut forest = Forest {
        features,
        labels: trees[0].position_of.len(),
        trees: trees.len(),
        units: vec![0],
        ..Forest::default()
    };
    let mut all = UnitModel { starts: vec![0], ..UnitModel::default() };
    models.iter().for_each(|model| all.append(model));
    for TreePlan { tree, units, .. } in trees {
        let mut number = vec![NO_NODE; tree.nodes.len()];
        number[0] = forest.parents.len() as u32;
        forest.parents.push(NO_NODE);
        forest.leaf_labels.push(NO_NODE);
        forest.units.push(forest.parents.len() as u64);
        for unit in units {
            for &node in &unit.nodes {
                number[node] = forest.parents.len() as u32;
                let parent = tree.nodes[node].parent.expect("only a root has none, and it is in no unit");
                forest.parents.push(number[parent]);
                let label = tree.labels[tree.nodes[node].labels.start];
                forest.leaf_labels.push(if tree.is_leaf(node) { label } else { NO_NODE });
            }
            forest.units.push(forest.parents.len() as u64);
        }
    }
    let UnitModel { biases, starts, columns, weights } = all;
    Forest { biases, starts, columns, weights, ..forest }
}
