//! What decides a forest, beside the data and the seed.

use serde_json::{Value, json};

use crate::checkpoint::Fingerprint;

/// How labels are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Trees made by balanced k-means: `arity` children a node, until at most `leaf_size` labels are left.
    Trees { trees: usize, arity: usize, leaf_size: usize },
    /// All labels below one root: one-vs-rest.
    Flat,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeOptions {
    pub shape: Shape,
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
            Shape::Trees { .. } => "plt",
            Shape::Flat => "linear",
        }
    }

    fn named(&self) -> Vec<(&'static str, Value)> {
        let mut named = match self.shape {
            Shape::Trees { trees, arity, leaf_size } => {
                vec![("trees", json!(trees)), ("arity", json!(arity)), ("leaf-size", json!(leaf_size))]
            }
            Shape::Flat => Vec::new(),
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
        Value::Object(self.named().into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// All that decides a model, as far as it is known without the data.
    pub fn facts(&self) -> Fingerprint {
        let start = Fingerprint::of_program().with("estimator", self.estimator()).with("seed", self.seed);
        self.named().into_iter().fold(start, |facts, (name, value)| facts.with(name, value))
    }
}
