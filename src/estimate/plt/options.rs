//! Options of label trees and one-vs-rest.

use serde_json::{Value, json};

use super::train::train;
use crate::error::Result;
use crate::estimate::{EstimatorOptions, TrainingRun};
use crate::load::{Examples, RowDistribution};
use crate::store::ModelFile;

/// The arrangement of the labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeShape {
    /// Trees grown by balanced k-means: `arity` children per node, until at most `leaf_size` labels are left.
    Trees { trees: usize, arity: usize, leaf_size: usize },
    /// All labels below one root: one-vs-rest.
    Flat,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeOptions {
    pub shape: TreeShape,
    /// Weight of the loss relative to the regulariser: C of LIBLINEAR.
    pub cost: f64,
    /// Tolerance of the solver.
    pub tolerance: f64,
    /// Maximum number of passes over the rows of a node.
    pub max_passes: usize,
    /// Weights of smaller magnitude are dropped.
    pub threshold: f32,
    pub seed: u64,
}

impl EstimatorOptions for TreeOptions {
    fn estimator(&self) -> &'static str {
        match self.shape {
            TreeShape::Trees { .. } => "plt",
            TreeShape::Flat => "linear",
        }
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn by_name(&self) -> Vec<(&'static str, Value)> {
        let mut named = match self.shape {
            TreeShape::Trees { trees, arity, leaf_size } => {
                vec![("trees", json!(trees)), ("arity", json!(arity)), ("leaf-size", json!(leaf_size))]
            }
            TreeShape::Flat => Vec::new(),
        };
        named.extend([
            ("cost", json!(self.cost)),
            ("tolerance", json!(self.tolerance)),
            ("max-passes", json!(self.max_passes)),
            // Through text, so that 0.1 is recorded as 0.1 and not as the nearest f32.
            ("threshold", json!(self.threshold.to_string().parse::<f64>().unwrap_or(0.0))),
        ]);
        named
    }

    fn row_distribution(&self) -> RowDistribution {
        // The upper nodes of a tree see all rows.
        RowDistribution::Replicated
    }

    fn train(&self, examples: &Examples, run: TrainingRun<'_, '_>) -> Result<Option<ModelFile>> {
        train(self, examples, run)
    }
}
