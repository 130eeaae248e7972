//! Whole experiments: data, budgets, metrics and strategies, compared in one table.
//!
//! An [`Experiment`] becomes [`Step`]s, each with the facts its result depends on. What a step made is in the output
//! [`Folder`], beside a record of those facts; a step whose record is there and whose facts are the same is not done
//! again. At the end all of them make one [`Comparison`].

mod comparison;
mod content;
mod divide;
mod error;
mod fitting;
mod folder;
mod gains;
mod identity;
mod known_files;
mod lock;
mod need;
mod perform;
mod plan;
mod record;
mod results;
mod state;
mod step;
mod subject;
mod watcher;
mod worker;

pub use comparison::{Comparison, Row};
pub use error::ExperimentError;
pub use folder::Folder;
pub use gains::Gain;
pub use perform::perform;
pub use plan::{Again, Plan, plan};
pub use results::Results;
pub use state::{Reason, State};
pub use step::{Part, Step, Work};
pub use subject::{Subject, Way};

use std::path::PathBuf;

use crate::classifier::{Candidates, Constants, Strategy};
use crate::evaluate::Evaluation;
use crate::job::Control;
use crate::load::LoadOptions;
use crate::measure::Metric;
use crate::optimize::Search;
use crate::report::Console;
use crate::split::Split;
use crate::store::Location;
use crate::synth::Sample;
use crate::world::World;

/// What is compared, on which data.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub fit: Data,
    /// Its labels are there.
    pub test: Data,
    /// Labels that priors and propensities come from, instead of those of the fitting rows.
    pub train: Option<Location>,
    /// Values of k.
    pub budgets: Vec<usize>,
    pub metrics: Vec<Metric>,
    pub choices: Vec<Choice>,
    pub targets: Vec<Target>,
    pub seeds: Vec<u64>,
    pub search: Search,
    pub baselines: Baselines,
    pub evaluation: Evaluation,
    /// A and B of the propensities of ps-precision.
    pub propensity: (f64, f64),
    /// What the table shows, by the names that evaluation gives.
    pub columns: Vec<String>,
}

/// Where an experiment is done.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub world: &'a World,
    pub console: &'a Console,
    pub folder: &'a Folder,
    /// Says when to stop.
    pub control: &'a Control,
}

/// A sample of instances.
#[derive(Clone, Debug)]
pub enum Data {
    Files(LoadOptions),
    /// Made by the experiment itself.
    Made(Sample),
    /// Rows to fit on and rows to test on are the two parts of a file.
    Divided(Divided),
}

/// A file, and how it is divided into rows to fit on and rows to test on.
#[derive(Clone, Debug)]
pub struct Divided {
    pub file: PathBuf,
    pub split: Split,
    /// Accept marginals outside [0, 1] and move them to the nearer end.
    pub clamp: bool,
}

/// One way to choose labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    FrankWolfe,
    Baseline(Strategy),
}

impl Choice {
    pub const FRANK_WOLFE: &str = "frank-wolfe";

    pub fn name(self) -> &'static str {
        match self {
            Choice::FrankWolfe => Choice::FRANK_WOLFE,
            Choice::Baseline(strategy) => strategy.name(),
        }
    }
}

/// What counts as right while fitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Labels,
    /// The marginals stand in for labels.
    Expected,
}

impl Target {
    pub fn name(self) -> &'static str {
        match self {
            Target::Labels => "labels",
            Target::Expected => "expected",
        }
    }
}

/// What baselines have in common.
#[derive(Clone, Copy, Debug)]
pub struct Baselines {
    pub constants: Constants,
    pub candidates: Candidates,
}
