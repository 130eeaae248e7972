//! Whole experiments: data, budgets, metrics and strategies, compared in one table.
//!
//! An [`Experiment`] becomes [`ExperimentStep`]s, each with the facts its result depends on. What a step made is in the output
//! [`Folder`], beside a record of those facts; a step whose record is there and whose facts are the same is not done
//! again. At the end all of them make one [`Comparison`].

mod classifier_spec;
mod comparison;
mod error;
mod file_hash;
mod fingerprint_hash;
mod fit_progress;
mod fit_rows;
mod folder;
mod gains;
mod hash_cache;
mod lock;
mod memory_estimate;
mod plan;
mod record;
mod results;
mod run;
mod split_step;
mod state;
mod step;
mod step_runner;

pub use classifier_spec::{ClassifierMethod, ClassifierSpec};
pub use comparison::{Comparison, ComparisonRow};
pub use error::ExperimentError;
pub use folder::Folder;
pub use gains::Gain;
pub use plan::{ExperimentPlan, ReusePolicy, plan};
pub use results::Results;
pub use run::run_experiment;
pub use state::{StepState, ToDoReason};
pub use step::{Action, ExperimentStep, FitOrTest};

use std::path::PathBuf;

use crate::classifier::{BaselineConstants, BaselineStrategy, Candidates};
use crate::evaluate::Evaluation;
use crate::job::StopControl;
use crate::load::LoadOptions;
use crate::measure::Metric;
use crate::optimize::FitConfig;
use crate::report::Console;
use crate::split::Split;
use crate::store::Location;
use crate::synth::SynthSample;
use crate::world::World;

/// What is compared, on which data.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub fit: DataSource,
    /// Its labels are there.
    pub test: DataSource,
    /// Labels that priors and propensities come from, instead of those of the fitting rows.
    pub train: Option<Location>,
    /// Values of k.
    pub budgets: Vec<usize>,
    pub metrics: Vec<Metric>,
    pub strategies: Vec<StrategyChoice>,
    pub targets: Vec<FitTarget>,
    pub seeds: Vec<u64>,
    pub search: FitConfig,
    pub baselines: BaselineSettings,
    pub evaluation: Evaluation,
    /// A and B of the propensities of ps-precision.
    pub propensity: (f64, f64),
    /// What the table shows, by the names that evaluation gives.
    pub columns: Vec<String>,
}

/// Where an experiment is done.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    pub world: &'a World,
    pub console: &'a Console,
    pub folder: &'a Folder,
    /// Says when to stop.
    pub control: &'a StopControl,
}

/// A sample of instances.
#[derive(Clone, Debug)]
pub enum DataSource {
    Files(LoadOptions),
    /// Made by the experiment itself.
    Synthetic(SynthSample),
    /// Rows to fit on and rows to test on are the two parts of a file.
    Split(SplitFile),
}

/// A file, and how it is divided into rows to fit on and rows to test on.
#[derive(Clone, Debug)]
pub struct SplitFile {
    pub file: PathBuf,
    pub split: Split,
    /// Accept marginals outside [0, 1] and move them to the nearer end.
    pub clamp: bool,
}

/// One way to choose labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyChoice {
    FrankWolfe,
    Baseline(BaselineStrategy),
}

impl StrategyChoice {
    pub const FRANK_WOLFE: &str = "frank-wolfe";

    pub fn name(self) -> &'static str {
        match self {
            StrategyChoice::FrankWolfe => StrategyChoice::FRANK_WOLFE,
            StrategyChoice::Baseline(strategy) => strategy.name(),
        }
    }
}

/// What counts as right while fitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitTarget {
    Labels,
    /// The marginals stand in for labels.
    Expected,
}

impl FitTarget {
    pub fn name(self) -> &'static str {
        match self {
            FitTarget::Labels => "labels",
            FitTarget::Expected => "expected",
        }
    }
}

/// What baselines have in common.
#[derive(Clone, Copy, Debug)]
pub struct BaselineSettings {
    pub constants: BaselineConstants,
    pub candidates: Candidates,
}
