//! The options of a search, for any metric, budget and data.

use std::path::PathBuf;

use super::frank_wolfe::FrankWolfeOptions;
use super::step_rule::StepRule;
use crate::classifier::Candidates;

/// Options that become [`FrankWolfeOptions`] once the budget and the data are known.
#[derive(Clone, Debug, PartialEq)]
pub struct FitConfig {
    pub initial: InitialSource,
    pub step: StepRule,
    pub max_iterations: usize,
    pub tolerance: f64,
    pub min_gain: f64,
    pub epsilon: Epsilon,
    pub candidates: Candidates,
}

/// The source of the initial classifier.
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

impl FitConfig {
    /// Returns the options for predicting `k` labels of each of `rows` rows.
    pub fn options(&self, k: usize, rows: u64) -> FrankWolfeOptions {
        let FitConfig { initial: _, step, max_iterations, tolerance, min_gain, epsilon, candidates } = *self;
        FrankWolfeOptions {
            k,
            epsilon: epsilon.for_rows(rows),
            candidates,
            step,
            max_iterations,
            tolerance,
            min_gain,
        }
    }
}
