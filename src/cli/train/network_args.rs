//! Options of networks.

use crate::cli::values::{above_0_to, within};
use crate::error::{Result, usage};
use crate::estimate::mlp::{Loss, NetworkOptions};

/// Options of --estimator mlp.
#[derive(clap::Args)]
#[command(next_help_heading = "Networks (mlp)")]
pub(super) struct NetworkArgs {
    /// Units of each hidden layer, for one to three layers
    #[arg(long, default_value = "512", value_name = "N[,N[,N]]", value_delimiter = ',',
          value_parser = within(128..=2048usize))]
    hidden: Vec<usize>,
    /// Loss to minimise
    #[arg(long, value_enum, default_value = "bce")]
    loss: Loss,
    /// Share of the hidden units left out of each training step
    #[arg(long, default_value_t = 0.5, value_name = "SHARE", value_parser = within(0.0..=0.9))]
    dropout: f64,
    /// Learning rate of Adam
    #[arg(long, default_value_t = 0.001, value_name = "RATE", value_parser = above_0_to(1.0))]
    learning_rate: f64,
    /// Global batch size (rows per training step across all ranks)
    #[arg(long, default_value_t = 128, value_name = "ROWS",
          value_parser = within(1..=1usize << 20))]
    batch: usize,
    /// Maximum number of epochs
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = within(1..=10_000u32))]
    epochs: u32,
    /// Share of the rows held out to find the best number of epochs, for which the network is then trained on all
    /// rows; 0 trains on all rows for exactly --epochs
    #[arg(long, default_value_t = 0.1, value_name = "SHARE", value_parser = within(0.0..=0.9))]
    validation: f64,
    /// Stop after this many epochs without improvement on the held-out rows: of the loss with bce, otherwise of
    /// precision at 5 plus macro-F1 at 5
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = within(1..=10_000u32))]
    patience: u32,
    /// Try other layers and learning rates too, and keep the best on the held-out rows
    #[arg(long)]
    search: bool,
}

impl NetworkArgs {
    pub fn check(&self, seed: u64) -> Result<NetworkOptions> {
        let layers = self.hidden.len();
        if !(1..=3).contains(&layers) {
            return usage(format!("--hidden has {layers} layers, but there must be 1 to 3"));
        }
        if self.search && self.validation == 0.0 {
            return usage("--search needs held-out rows, but --validation is 0; leave one of them out");
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
