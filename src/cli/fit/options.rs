//! Options of the Frank-Wolfe search: those of `macrok fit`, and a section of job files.

use crate::classifier::Candidates;
use crate::cli::values::{positive, within};
use crate::optimize::{Epsilon, FitConfig, FrankWolfeOptions, InitialSource, StepRule};

/// Options of the search.
#[derive(clap::Args)]
pub(in crate::cli) struct FitOptions {
    /// Classifier to start from: top-k, random, prior (inverse label priors), or a classifier file
    #[arg(long, default_value = "top-k", value_name = "top-k|random|prior|FILE")]
    pub init: String,
    /// Step rule
    #[arg(long, value_enum, default_value = "search")]
    step: StepRule,
    /// Maximum number of iterations (one pass over the marginals each)
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = within(1..=8000usize))]
    max_iters: usize,
    /// Stop when the best step falls below this value
    #[arg(long, default_value_t = 1e-3, value_name = "STEP",
          value_parser = within(0.0..f64::INFINITY))]
    tolerance: f64,
    /// Stop when the utility gain or the Frank-Wolfe gap falls below this value
    #[arg(long, default_value_t = 1e-6, value_name = "GAIN", value_parser = within(0.0..f64::INFINITY))]
    min_gain: f64,
    /// Value added to every denominator of the metric, as a fraction of the instances
    #[arg(long, default_value_t = 1e-9, value_parser = positive())]
    epsilon: f64,
    /// Number of imaginary instances in every denominator: epsilon becomes C / n
    #[arg(long, value_name = "C", conflicts_with = "epsilon", value_parser = positive())]
    smoothing: Option<f64>,
    /// Labels that a rule may choose from
    #[arg(long, value_enum, default_value = "all")]
    candidates: Candidates,
}

impl FitOptions {
    pub fn config(&self) -> FitConfig {
        FitConfig {
            initial: match self.init.as_str() {
                "top-k" => InitialSource::TopK,
                "random" => InitialSource::Random,
                "prior" => InitialSource::Prior,
                path => InitialSource::File(path.into()),
            },
            options: FrankWolfeOptions {
                step: self.step,
                max_iterations: self.max_iters,
                tolerance: self.tolerance,
                min_gain: self.min_gain,
                epsilon: self.smoothing.map_or(Epsilon::Fixed(self.epsilon), Epsilon::Smoothing),
                candidates: self.candidates,
            },
        }
    }
}
