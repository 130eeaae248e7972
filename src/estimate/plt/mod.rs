//! Probabilistic label trees (Jasinska et al. 2016), and one-vs-rest as a tree of one level.
//!
//! Every node but the root has a logistic regression: the probability that the row has a label below the node, given
//! that it has one below the parent. The marginal of a label is the product on its path.

mod forest;
mod forest_file;
mod options;
mod predict;
mod train;

pub use forest::{Forest, NO_NODE};
pub use options::{Shape, TreeOptions};
pub use train::train;
