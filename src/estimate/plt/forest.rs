//! A trained forest, and its arrays in a model file.

use std::ops::Range;

use super::node_models::NodeModels;
use super::tree::Tree;
use crate::store::{ModelArray, ModelFile};

/// Marks a node without parent or without label.
pub const NO_NODE: u32 = u32::MAX;

/// Trees in one list of nodes, parents before children. The nodes of a *unit* are consecutive: they are trained and
/// evaluated together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forest {
    pub features: usize,
    pub labels: usize,
    pub trees: usize,
    /// Parent of each node; [`NO_NODE`] for the root of a tree.
    pub parents: Vec<u32>,
    /// Label of each leaf; [`NO_NODE`] for inner nodes.
    pub leaf_labels: Vec<u32>,
    /// First node of each unit, and the end of the last unit.
    pub units: Vec<u64>,
    pub models: NodeModels,
}

impl Forest {
    /// Joins trees: the root of each tree, then its units. `root` and `units` are their trained models, the latter in
    /// the order of trees.
    pub(super) fn assemble(
        trees: &[Tree],
        features: usize,
        root: &NodeModels,
        units: &[NodeModels],
    ) -> Forest {
        let mut forest = Forest {
            features,
            labels: trees[0].positions.len(),
            trees: trees.len(),
            units: vec![0],
            ..Forest::default()
        };
        let mut units = units.iter();
        for tree in trees {
            let mut numbers = vec![NO_NODE; tree.nodes.len()];
            numbers[0] = forest.nodes() as u32;
            forest.parents.push(NO_NODE);
            forest.leaf_labels.push(NO_NODE);
            forest.units.push(forest.nodes() as u64);
            forest.models.append(root);
            for (unit, model) in tree.units.iter().zip(&mut units) {
                for &node in &unit.nodes {
                    numbers[node] = forest.nodes() as u32;
                    let parent =
                        tree.nodes[node].parent.expect("only the root has no parent, and it is in no unit");
                    forest.parents.push(numbers[parent]);
                    let label = tree.labels[tree.nodes[node].labels.start];
                    forest.leaf_labels.push(if tree.is_leaf(node) { label } else { NO_NODE });
                }
                forest.units.push(forest.nodes() as u64);
                forest.models.append(model);
            }
        }
        forest
    }

    pub fn nodes(&self) -> usize {
        self.parents.len()
    }

    /// Returns the nodes of a unit.
    pub fn unit(&self, unit: usize) -> Range<usize> {
        self.units[unit] as usize..self.units[unit + 1] as usize
    }

    pub fn unit_count(&self) -> usize {
        self.units.len() - 1
    }

    /// Puts the arrays into the group `forest` of a model file. The weights are a CSR matrix of nodes x features.
    pub fn put_into(self, file: &mut ModelFile) {
        let shape = vec![self.nodes() as u64, self.features as u64];
        file.put("forest/parents", self.parents);
        file.put("forest/leaf_labels", self.leaf_labels);
        file.put("forest/units", self.units);
        file.put("forest/biases", self.models.biases);
        file.put("forest/trees", vec![self.trees as u64]);
        file.put("forest/weights/shape", shape);
        file.put("forest/weights/indptr", self.models.starts);
        file.put("forest/weights/indices", self.models.columns);
        file.put("forest/weights/data", self.models.weights);
    }

    /// Removes the arrays from a model file and checks them. The error is the reason why they are not a forest.
    pub fn from_file(file: &mut ModelFile) -> Result<Forest, String> {
        let forest = Forest {
            features: file.features as usize,
            labels: file.labels as usize,
            trees: take(file, "trees", ModelArray::into_u64)?.first().map_or(0, |&trees| trees as usize),
            parents: take(file, "parents", ModelArray::into_u32)?,
            leaf_labels: take(file, "leaf_labels", ModelArray::into_u32)?,
            units: take(file, "units", ModelArray::into_u64)?,
            models: NodeModels {
                biases: take(file, "biases", ModelArray::into_f32)?,
                starts: take(file, "weights/indptr", ModelArray::into_u64)?,
                columns: take(file, "weights/indices", ModelArray::into_u32)?,
                weights: take(file, "weights/data", ModelArray::into_f32)?,
            },
        };
        match forest.defect() {
            Some(defect) => Err(defect.into()),
            None => Ok(forest),
        }
    }

    fn defect(&self) -> Option<&'static str> {
        let (nodes, NodeModels { biases, starts, columns, weights }) = (self.nodes(), &self.models);
        let lengths = [self.leaf_labels.len(), biases.len(), starts.len().saturating_sub(1)];
        let partitions = |starts: &[u64], end: usize| {
            starts.first() == Some(&0) && starts.last() == Some(&(end as u64)) && starts.is_sorted()
        };
        let roots = self.parents.iter().filter(|&&parent| parent == NO_NODE).count();
        let parent_precedes = |(node, &parent): (usize, &u32)| parent == NO_NODE || (parent as usize) < node;
        let label_exists = |&label: &u32| label == NO_NODE || (label as usize) < self.labels;
        let checks = [
            (
                lengths.iter().all(|&length| length == nodes) && columns.len() == weights.len(),
                "its arrays differ in length",
            ),
            (
                partitions(&self.units, nodes) && partitions(starts, weights.len()),
                "the units or the weights of its nodes overlap",
            ),
            (
                roots == self.trees && roots > 0 && self.parents.iter().enumerate().all(parent_precedes),
                "its nodes do not form trees",
            ),
            (self.leaf_labels.iter().all(label_exists), "a leaf has a label out of range"),
            (
                columns.iter().all(|&column| (column as usize) < self.features),
                "a weight has a feature out of range",
            ),
            (
                weights.iter().all(|weight| weight.is_finite()) && biases.iter().all(|bias| !bias.is_nan()),
                "a weight is not finite",
            ),
        ];
        checks.into_iter().find(|check| !check.0).map(|check| check.1)
    }
}

fn take<T>(
    file: &mut ModelFile,
    name: &str,
    numbers: fn(ModelArray) -> Option<Vec<T>>,
) -> Result<Vec<T>, String> {
    let found = file.take(&format!("forest/{name}")).and_then(numbers);
    found.ok_or_else(|| format!("the array 'forest/{name}' is missing or has the wrong type"))
}
