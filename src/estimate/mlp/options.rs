//! Options of networks.

use serde_json::{Value, json};

use super::loss::Loss;
use super::train::train;
use crate::error::Result;
use crate::estimate::{EstimatorOptions, TrainingRun};
use crate::load::{Examples, RowDistribution};
use crate::store::ModelFile;

#[derive(Clone, Debug, PartialEq)]
pub struct NetworkOptions {
    /// Units of each hidden layer, one to three of them.
    pub hidden: Vec<usize>,
    pub loss: Loss,
    /// Share of the hidden units left out of each step.
    pub dropout: f64,
    /// Learning rate of Adam.
    pub rate: f64,
    /// Rows per step, on all ranks together.
    pub batch: usize,
    /// Maximum number of epochs.
    pub epochs: u32,
    /// Share of the rows held out to choose the number of epochs; with 0 it is exactly `epochs`.
    pub validation: f64,
    /// Consecutive epochs without improvement on the held-out rows after which a trial ends.
    pub patience: u32,
    /// Whether to try other layers and learning rates, too.
    pub search: bool,
    pub seed: u64,
}

impl EstimatorOptions for NetworkOptions {
    fn estimator(&self) -> &'static str {
        "mlp"
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn by_name(&self) -> Vec<(&'static str, Value)> {
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

    fn row_distribution(&self) -> RowDistribution {
        RowDistribution::Split
    }

    fn train(&self, examples: &Examples, run: TrainingRun<'_, '_>) -> Result<Option<ModelFile>> {
        train(self, examples, run)
    }
}

/// `1024,512`
pub(super) fn comma_separated(units: &[usize]) -> String {
    units.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}
