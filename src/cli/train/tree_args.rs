//! Options of label trees and of one-vs-rest classifiers.

use super::EstimatorName;
use crate::cli::values::{positive, within};
use crate::estimate::plt::{TreeOptions, TreeShape};

/// Options of --estimator plt; linear uses those of the solver.
#[derive(clap::Args)]
#[command(next_help_heading = "Label trees (plt), and one-vs-rest (linear), which has no trees")]
pub(super) struct TreeArgs {
    /// Number of trees whose marginals are averaged
    #[arg(long, default_value_t = 1, value_name = "T", value_parser = within(1..=1000usize))]
    trees: usize,
    /// Children of an inner node
    #[arg(long, default_value_t = 2, value_name = "N",
          value_parser = within(2..=1usize << 20))]
    arity: usize,
    /// Maximum number of labels in a leaf node
    #[arg(long, default_value_t = 100, value_name = "N",
          value_parser = within(1..=u32::MAX as usize))]
    leaf_size: usize,
    /// Weight of the loss relative to the regulariser: C of LIBLINEAR
    #[arg(long, default_value_t = 10.0, value_name = "C", value_parser = positive())]
    cost: f64,
    /// Solver tolerance on predicted probabilities
    #[arg(long, default_value_t = 0.1, value_name = "EPS", value_parser = positive())]
    tolerance: f64,
    /// Maximum number of passes over the rows of a node
    #[arg(long, default_value_t = 100, value_name = "N",
          value_parser = within(1..=1_000_000usize))]
    max_passes: usize,
    /// Drop weights whose magnitude is below this threshold
    #[arg(long, default_value_t = 0.1, value_name = "W",
          value_parser = within(0.0..f32::INFINITY))]
    threshold: f32,
}

impl TreeArgs {
    pub fn options(&self, estimator: EstimatorName, seed: u64) -> TreeOptions {
        let shape = match estimator {
            EstimatorName::Plt => {
                TreeShape::Trees { trees: self.trees, arity: self.arity, leaf_size: self.leaf_size }
            }
            // Networks do not use these options.
            EstimatorName::Linear | EstimatorName::Mlp => TreeShape::Flat,
        };
        TreeOptions {
            shape,
            cost: self.cost,
            tolerance: self.tolerance,
            max_passes: self.max_passes,
            threshold: self.threshold,
            seed,
        }
    }
}
