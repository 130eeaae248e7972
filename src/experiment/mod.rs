//! Whole experiments: data, budgets, metrics and strategies, compared in one table.
//!
//! An [`Experiment`] becomes [`ExperimentStep`]s, each with the facts that its result depends on. The output [`Folder`] has
//! a record of every finished step with these facts. A later run reuses the results of steps whose facts are unchanged.

mod classifier_spec;
mod comparison;
mod error;
mod file_hash;
mod fingerprints;
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

pub use classifier_spec::{ClassifierMethod, ClassifierSpec, FitSpec};
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
use crate::job::StopControl;
use crate::load::LoadOptions;
use crate::measure::Metric;
use crate::optimize::FitConfig;
use crate::pipeline::EvaluateRequest;
use crate::report::Console;
use crate::split::Split;
use crate::store::Location;
use crate::synth::SynthSample;
use crate::world::World;

/// The classifiers to compare, and the data.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub fit: DataSource,
    /// Has true labels.
    pub test: DataSource,
    /// Labels for priors and propensities, instead of those of the fitting rows.
    pub train: Option<Location>,
    /// Values of k.
    pub budgets: Vec<usize>,
    pub metrics: Vec<Metric>,
    pub strategies: Vec<StrategyChoice>,
    pub targets: Vec<FitTarget>,
    pub seeds: Vec<u64>,
    pub search: FitConfig,
    pub baselines: BaselineSettings,
    pub evaluate: EvaluateRequest,
    /// Metrics of the table, by the names that evaluation gives them.
    pub columns: Vec<String>,
}

/// The surroundings of a running experiment.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    pub world: &'a World,
    pub console: &'a Console,
    pub folder: &'a Folder,
    pub control: &'a StopControl,
}

/// A sample of instances.
#[derive(Clone, Debug)]
pub enum DataSource {
    Files(LoadOptions),
    Synthetic(SynthSample),
    /// One part of a file; the other part is the other sample.
    Split(SplitFile),
}

/// A file to split into fitting rows and test rows.
#[derive(Clone, Debug)]
pub struct SplitFile {
    pub file: PathBuf,
    pub split: Split,
    /// Move marginals outside [0, 1] to the nearer end instead of refusing them.
    pub clamp: bool,
}

/// One way to choose labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyChoice {
    FrankWolfe,
    Baseline(BaselineStrategy),
}

impl StrategyChoice {
    pub fn name(self) -> &'static str {
        match self {
            StrategyChoice::FrankWolfe => "frank-wolfe",
            StrategyChoice::Baseline(strategy) => strategy.name(),
        }
    }
}

/// The labels that a fit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitTarget {
    Labels,
    /// The marginals, as expected labels.
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

/// Options that all baselines share.
#[derive(Clone, Copy, Debug)]
pub struct BaselineSettings {
    pub constants: BaselineConstants,
    pub candidates: Candidates,
}
