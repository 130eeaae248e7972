//! What decides a network, beside the data.

use serde_json::{Value, json};

use super::loss::Loss;
use crate::checkpoint::Fingerprint;

#[derive(Clone, Debug, PartialEq)]
pub struct NetworkOptions {
    /// Units of each hidden layer, one to three of them.
    pub hidden: Vec<usize>,
    pub loss: Loss,
    /// Share of the hidden units that a step leaves out.
    pub dropout: f64,
    /// Of Adam.
    pub rate: f64,
    /// Rows of a step, on all ranks together.
    pub batch: usize,
    /// Times that all rows are seen, at most.
    pub epochs: u32,
    /// Share of the rows held out to find the best number of epochs; with 0 there are exactly `epochs`.
    pub validation: f64,
    /// Epochs in a row that are no better on those, after which the others are not tried.
    pub patience: u32,
    /// Whether layers, widths and learning rates are tried out on the rows held out.
    pub search: bool,
    pub seed: u64,
}

impl NetworkOptions {
    fn values_by_name(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("hidden", json!(comma_separated(&self.hidden))),
            ("loss", json!(self.loss.name())),
            ("dropout", json!(self.dropout)),
            ("learning-rate", json!(self.rate)),
            ("batch", json!(self.batch)),
            ("epochs", json!(self.epochs)),
            ("validation", json!(self.validation)),
            ("patience", json!(self.patience)),
            ("search", json!(self.search)),
        ]
    }

    /// By name, for the model file.
    pub fn to_json(&self) -> Value {
        Value::Object(self.values_by_name().into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// All that decides a model on a given number of ranks, as far as it is known without the data.
    pub fn fingerprint(&self) -> Fingerprint {
        let start = Fingerprint::of_program().with("estimator", "mlp").with("seed", self.seed);
        self.values_by_name()
            .into_iter()
            .fold(start, |fingerprint, (name, value)| fingerprint.with(name, value))
    }
}

/// `1024,512`
pub(super) fn comma_separated(units: &[usize]) -> String {
    units.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}
