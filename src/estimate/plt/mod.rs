//! Probabilistic label trees (Jasinska et al. 2016), and one-vs-rest as a tree of one level.
//!
//! Every node has a logistic regression: the probability that the row has a label below the node, given that it has one
//! below the parent. The marginal of a label is the product on its path.
//!
//! Training: [`tree`] arranges labels by [`kmeans`], [`units`] says which nodes are trained together, [`problem`] gathers
//! their rows, [`solver`] solves. Asking: [`ready`] has the weights as they are read, [`search`] looks at the most
//! probable units first.

mod columns;
mod forest;
mod forest_file;
mod grow;
mod kmeans;
mod options;
mod positives;
mod predict;
mod problem;
mod ready;
mod representations;
mod search;
mod sigmoid;
mod solver;
mod tasks;
#[cfg(test)]
mod tests;
mod train;
mod tree;
mod unit_model;
mod units;

pub use forest::{Forest, NO_NODE};
pub use options::{Shape, TreeOptions};
pub use ready::ReadyForest;
pub use train::train;
