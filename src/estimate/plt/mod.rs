//! Probabilistic label trees (Jasinska et al. 2016), and one-vs-rest as a tree of one level.
//!
//! Every node has a logistic regression: the probability that the row has a label below the node, given that it has one
//! below the parent. The marginal of a label is the product along its path.
//!
//! Training: [`tree`] arranges labels by [`kmeans`] and groups nodes into units, [`schedule`] distributes the units,
//! [`train_unit`] and [`solver`] train them. Prediction: [`compiled_forest`] has the layout of the weights, [`predict`]
//! searches the most probable units first.

mod compiled_forest;
mod feature_set;
mod forest;
mod kmeans;
mod label_vectors;
mod node_models;
mod options;
mod predict;
mod schedule;
mod solver;
#[cfg(test)]
mod tests;
mod train;
mod train_unit;
mod training_set;
mod tree;

pub use compiled_forest::CompiledForest;
pub use forest::Forest;
pub use options::{TreeOptions, TreeShape};
