//! The options of a search, for any metric and data.

use std::path::PathBuf;

use super::step_rule::StepRule;
use crate::classifier::Candidates;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrankWolfeOptions {
    pub step: StepRule,
    /// Iterations, each one pass over the rows.
    pub max_iterations: usize,
    /// A smaller step ends the search (the epsilon of Algorithm 1).
    pub tolerance: f64,
    /// A smaller gain, or a smaller gap, ends the search.
    pub min_gain: f64,
    pub epsilon: Epsilon,
    pub candidates: Candidates,
}

/// The number that is added to denominators.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Epsilon {
    Fixed(f64),
    /// To be divided by the number of instances.
    Smoothing(f64),
}

impl Epsilon {
    /// Returns the number for data of `rows` rows.
    pub fn for_rows(self, rows: u64) -> f64 {
        match self {
            Epsilon::Fixed(epsilon) => epsilon,
            Epsilon::Smoothing(instances) => instances / rows as f64,
        }
    }
}

/// Options together with the source of the initial classifier.
#[derive(Clone, Debug, PartialEq)]
pub struct FitConfig {
    pub initial: InitialSource,
    pub options: FrankWolfeOptions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InitialSource {
    TopK,
    /// The only source that depends on the seed.
    Random,
    Prior,
    File(PathBuf),
}

impl InitialSource {
    /// The values of --init, for messages.
    pub const CHOICES: &str = "top-k, random, prior, or a classifier file that exists";
}
