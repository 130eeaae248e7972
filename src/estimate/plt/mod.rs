//! Probabilistic label trees (Jasinska et al. 2016), and one-vs-rest as a tree of one level.
//!
//! Every node has a logistic regression: the probability that the row has a label below the node, given that it has one
//! below the parent. The marginal of a label is the product on its path.
//!
//! Training: [`tree`] arranges labels by [`kmeans`], [`units`] says which nodes are trained together, [`unit_rows`] gathers
//! their rows, [`solver`] solves. Asking: [`compiled_forest`] has the weights as they are read, [`forest_predict`] looks at the most
//! probable units first.

mod compiled_forest;
mod feature_set;
mod forest;
mod forest_file;
mod forest_predict;
mod kmeans;
mod naive_predict;
mod options;
mod positives;
mod representations;
mod sigmoid;
mod solver;
mod tasks;
#[cfg(test)]
mod tests;
mod train;
mod tree;
mod tree_plan;
mod unit_model;
mod unit_rows;
mod units;

pub use compiled_forest::CompiledForest;
pub use forest::{Forest, NO_NODE};
pub use options::{TreeOptions, TreeShape};
pub use train::train;
