//! The options of label trees and of one-vs-rest.

use super::EstimatorName;
use crate::error::{Result, usage};
use crate::estimate::plt::{TreeOptions, TreeShape};

/// Of --estimator plt; linear takes those of the solver.
#[derive(clap::Args)]
pub(super) struct TreeArgs {
    /// Trees whose marginals are averaged
    #[arg(long, help_heading = TREE_HEADING, default_value_t = 1, value_name = "T")]
    trees: usize,
    /// Children of a node
    #[arg(long, help_heading = TREE_HEADING, default_value_t = 2, value_name = "N")]
    arity: usize,
    /// Labels below which a node is not divided further
    #[arg(long, help_heading = TREE_HEADING, default_value_t = 100, value_name = "N")]
    leaf_size: usize,
    /// Weight of the loss against that of the regulariser: C of LIBLINEAR
    #[arg(long, help_heading = TREE_HEADING, default_value_t = 10.0, value_name = "C")]
    cost: f64,
    /// A node is solved when the probabilities of its rows are as near to those of the solution, or nearly so
    #[arg(long, help_heading = TREE_HEADING, default_value_t = 0.1, value_name = "EPS")]
    tolerance: f64,
    /// Passes over the rows of a node, at most
    #[arg(long, help_heading = TREE_HEADING, default_value_t = 100, value_name = "N")]
    max_passes: usize,
    /// Weights nearer to 0 are dropped
    #[arg(long, help_heading = TREE_HEADING, default_value_t = 0.1, value_name = "W")]
    threshold: f32,
}

const TREE_HEADING: &str = "Label trees (plt), and one-vs-rest (linear), which has no trees";

impl TreeArgs {
    pub fn check(&self, estimator: EstimatorName, seed: u64) -> Result<TreeOptions> {
        let least = [
            ("--trees", self.trees, 1, 1000),
            ("--arity", self.arity, 2, 1 << 20),
            ("--leaf-size", self.leaf_size, 1, u32::MAX as usize),
            ("--max-passes", self.max_passes, 1, 1_000_000),
        ];
        for (name, value, least, most) in least {
            if !(least..=most).contains(&value) {
                return usage(format!("{name} is {value}, but must be {least} to {most}"));
            }
        }
        for (name, value) in [("--cost", self.cost), ("--tolerance", self.tolerance)] {
            if !(value > 0.0 && value.is_finite()) {
                return usage(format!("{name} is {value}, but must be positive and finite"));
            }
        }
        if !(self.threshold >= 0.0 && self.threshold.is_finite()) {
            return usage(format!("--threshold is {}, but must be at least 0 and finite", self.threshold));
        }
        let shape = match estimator {
            EstimatorName::Plt => {
                TreeShape::Trees { trees: self.trees, arity: self.arity, leaf_size: self.leaf_size }
            }
            // Networks have no use for these options.
            EstimatorName::Linear | EstimatorName::Mlp => TreeShape::Flat,
        };
        Ok(TreeOptions {
            shape,
            cost: self.cost,
            tolerance: self.tolerance,
            max_passes: self.max_passes,
            threshold: self.threshold,
            seed,
        })
    }
}
