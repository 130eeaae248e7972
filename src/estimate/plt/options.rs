//! What decides a forest, beside the data and the seed.

use serde_json::{Value, json};

use crate::checkpoint::Fingerprint;

/// How labels are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeShape {
    /// Trees made by balanced k-means: `arity` children a node, until at most `leaf_size` labels are left.
    Trees { trees: usize, arity: usize, leaf_size: usize },
    /// All labels below one root: one-vs-rest.
    Flat,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeOptions {
    pub shape: TreeShape,
    /// Weight of the loss against that of the regulariser: C of LIBLINEAR.
    pub cost: f64,
    /// When a node's problem is solved well enough.
    pub tolerance: f64,
    /// Passes over the rows of a node, at most.
    pub max_passes: usize,
    /// Weights nearer to 0 are dropped.
    pub threshold: f32,
    pub seed: u64,
}

impl TreeOptions {
    /// The name of the estimator.
    pub fn estimator(&self) -> &'static str {
        match self.shape {
            TreeShape::Trees { .. } => "plt",
            TreeShape::Flat => "linear",
        }
    }

    fn values_by_name(&self) -> Vec<(&'static str, Value)> {
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
            // As the user has typed it, not as f32 holds it.
            ("threshold", json!(self.threshold.to_string().parse::<f64>().unwrap_or(0.0))),
        ]);
        named
    }

    /// By name, for the model file.
    pub fn to_json(&self) -> Value {
        Value::Object(self.values_by_name().into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// All that decides a model, as far as it is known without the data.
    pub fn fingerprint(&self) -> Fingerprint {
        let start = Fingerprint::of_program().with("estimator", self.estimator()).with("seed", self.seed);
        self.values_by_name()
            .into_iter()
            .fold(start, |fingerprint, (name, value)| fingerprint.with(name, value))
    }
}
