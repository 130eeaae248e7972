//! How to search, whatever the metric, the budget and the data.

use std::path::PathBuf;

use super::frank_wolfe::FrankWolfeOptions;
use super::step_search::StepRule;
use crate::classifier::Candidates;

/// What [`FrankWolfeOptions`] are made from once the budget and the data are known.
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

/// The initial classifier, before it is made or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InitialSource {
    TopK,
    /// The only one that a seed changes.
    Random,
    Prior,
    File(PathBuf),
}

/// What is added to denominators.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Epsilon {
    Fixed(f64),
    /// To be divided by the number of instances.
    Smoothing(f64),
}

impl Epsilon {
    /// Its value for data of so many rows.
    pub fn for_rows(self, rows: u64) -> f64 {
        match self {
            Epsilon::Fixed(epsilon) => epsilon,
            Epsilon::Smoothing(instances) => instances / rows as f64,
        }
    }
}

impl FitConfig {
    /// For a budget, on data of so many rows.
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
