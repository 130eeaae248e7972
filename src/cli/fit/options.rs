//! The options of the search: of `macrok fit`, and a section of job files.

use crate::classifier::Candidates;
use crate::error::{Result, usage};
use crate::optimize::{Epsilon, FitConfig, InitialSource, StepRule};

/// How Frank-Wolfe searches.
#[derive(clap::Args)]
pub(in crate::cli) struct FitOptions {
    /// Where to start: top-k, random, prior (inverse label priors), or a classifier file
    #[arg(long, default_value = "top-k", value_name = "top-k|random|prior|FILE")]
    pub init: String,
    /// How far to go in each iteration
    #[arg(long, value_enum, default_value = "search")]
    step: StepRule,
    /// Most iterations, each one pass over the marginals
    #[arg(long, default_value_t = 50, value_name = "N")]
    max_iters: usize,
    /// Stop when the best step is smaller
    #[arg(long, default_value_t = 1e-3, value_name = "STEP")]
    tolerance: f64,
    /// Stop when an iteration gains less, or the gap promises less
    #[arg(long, default_value_t = 1e-6, value_name = "GAIN")]
    min_gain: f64,
    /// Added to every denominator of the metric, on the scale of fractions of n
    #[arg(long, default_value_t = 1e-9)]
    epsilon: f64,
    /// Sets epsilon to C / n instead: C imaginary instances in every denominator
    #[arg(long, value_name = "C", conflicts_with = "epsilon")]
    smoothing: Option<f64>,
    /// Labels a rule may choose from
    #[arg(long, value_enum, default_value = "all")]
    candidates: Candidates,
}

impl FitOptions {
    pub fn check(&self) -> Result<FitConfig> {
        if !(1..=8000).contains(&self.max_iters) {
            return usage(format!("--max-iters is {}, but must be 1 to 8000", self.max_iters));
        }
        let positive = [("--epsilon", self.epsilon), ("--smoothing", self.smoothing.unwrap_or(1.0))];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return usage(format!("{name} is {value}, but must be positive and finite"));
            }
        }
        for (name, value) in [("--tolerance", self.tolerance), ("--min-gain", self.min_gain)] {
            if !(value >= 0.0 && value.is_finite()) {
                return usage(format!("{name} is {value}, but must be at least 0 and finite"));
            }
        }
        Ok(FitConfig {
            initial: match self.init.as_str() {
                "top-k" => InitialSource::TopK,
                "random" => InitialSource::Random,
                "prior" => InitialSource::Prior,
                path => InitialSource::File(path.into()),
            },
            step: self.step,
            max_iterations: self.max_iters,
            tolerance: self.tolerance,
            min_gain: self.min_gain,
            epsilon: self.smoothing.map_or(Epsilon::Fixed(self.epsilon), Epsilon::Smoothing),
            candidates: self.candidates,
        })
    }
}
