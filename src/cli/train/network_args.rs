//! The options of networks.

use crate::error::{Result, usage};
use crate::estimate::mlp::{Loss, NetworkOptions};

/// Of --estimator mlp.
#[derive(clap::Args)]
pub(super) struct NetworkArgs {
    /// Units of the hidden layers, one to three of them, 128 to 2048 each
    #[arg(long, help_heading = NETWORK_HEADING, default_value = "512", value_name = "N[,N[,N]]", value_delimiter = ',')]
    hidden: Vec<usize>,
    /// What is made small
    #[arg(long, help_heading = NETWORK_HEADING, value_enum, default_value = "bce")]
    loss: Loss,
    /// Share of the hidden units that are left out of each step
    #[arg(long, help_heading = NETWORK_HEADING, default_value_t = 0.5, value_name = "SHARE")]
    dropout: f64,
    /// Of Adam
    #[arg(long, help_heading = NETWORK_HEADING, default_value_t = 0.001, value_name = "RATE")]
    learning_rate: f64,
    /// Rows of a step, on all ranks together
    #[arg(long, help_heading = NETWORK_HEADING, default_value_t = 128, value_name = "ROWS")]
    batch: usize,
    /// Times that all rows are seen, at most
    #[arg(long, help_heading = NETWORK_HEADING, default_value_t = 50, value_name = "N")]
    epochs: u32,
    /// Share of the rows that are held out to find the best number of epochs, after which a network is trained on all
    /// rows so often; 0 holds out none and trains for exactly --epochs
    #[arg(long, help_heading = NETWORK_HEADING, default_value_t = 0.1, value_name = "SHARE")]
    validation: f64,
    /// Epochs that are no better on the rows held out (in loss with bce, in precision and macro-F1 at 5, added up, with
    /// the others), after which no more are tried
    #[arg(long, help_heading = NETWORK_HEADING, default_value_t = 5, value_name = "N")]
    patience: u32,
    /// Try other layers and learning rates too, and take what is best on the rows held out
    #[arg(long, help_heading = NETWORK_HEADING)]
    search: bool,
}

const NETWORK_HEADING: &str = "Networks (mlp)";

impl NetworkArgs {
    pub fn check(&self, seed: u64) -> Result<NetworkOptions> {
        let layers = self.hidden.len();
        if !(1..=3).contains(&layers) {
            return usage(format!("--hidden has {layers} layers, but there must be 1 to 3"));
        }
        let mut whole = vec![
            ("--batch", self.batch, 1, 1 << 20),
            ("--epochs", self.epochs as usize, 1, 10_000),
            ("--patience", self.patience as usize, 1, 10_000),
        ];
        whole.extend(self.hidden.iter().map(|&units| ("a layer of --hidden", units, 128, 2048)));
        for (name, value, least, most) in whole {
            if !(least..=most).contains(&value) {
                return usage(format!("{name} is {value}, but must be {least} to {most}"));
            }
        }
        for (name, value) in [("--dropout", self.dropout), ("--validation", self.validation)] {
            if !(0.0..=0.9).contains(&value) {
                return usage(format!("{name} is {value}, but must be 0 to 0.9"));
            }
        }
        if !(self.learning_rate > 0.0 && self.learning_rate <= 1.0) {
            return usage(format!(
                "--learning-rate is {}, but must be above 0 and at most 1",
                self.learning_rate
            ));
        }
        if self.search && self.validation == 0.0 {
            return usage(
                "--search needs rows that are held out, but --validation is 0; leave one of them out",
            );
        }
        Ok(NetworkOptions {
            hidden: self.hidden.clone(),
            loss: self.loss,
            dropout: self.dropout,
            rate: self.learning_rate,
            batch: self.batch,
            epochs: self.epochs,
            validation: self.validation,
            patience: self.patience,
            search: self.search,
            seed,
        })
    }
}
