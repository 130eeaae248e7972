//! One step of an experiment.

use super::ClassifierSpec;
use super::fingerprint_hash::fingerprint_hash;
use crate::checkpoint::Fingerprint;

/// Which sample of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitOrTest {
    Fit,
    Test,
}

impl FitOrTest {
    pub fn name(self) -> &'static str {
        match self {
            FitOrTest::Fit => "fit",
            FitOrTest::Test => "test",
        }
    }
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Makes data.
    MakeData(FitOrTest),
    /// Finds a classifier.
    MakeClassifier(ClassifierSpec),
    /// Evaluates it on the test rows.
    Evaluate(ClassifierSpec),
}

impl Action {
    /// The stem of its record.
    pub fn file_stem(&self) -> String {
        match self {
            Action::MakeData(part) => format!("data-{}", part.name()),
            Action::MakeClassifier(spec) => format!("classifier-{}", spec.file_stem()),
            Action::Evaluate(spec) => format!("evaluation-{}", spec.file_stem()),
        }
    }

    /// For people.
    pub fn description(&self) -> String {
        match self {
            Action::MakeData(part) => format!("make {} data", part.name()),
            Action::MakeClassifier(spec) if spec.metric().is_some() => {
                format!("fit       {}", spec.description())
            }
            Action::MakeClassifier(spec) => format!("baseline  {}", spec.description()),
            Action::Evaluate(spec) => format!("evaluate  {}", spec.description()),
        }
    }
}

/// Work, and all that its result depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentStep {
    pub action: Action,
    pub fingerprint: Fingerprint,
    pub fingerprint_hash: String,
}

impl ExperimentStep {
    pub fn new(action: Action, fingerprint: Fingerprint) -> ExperimentStep {
        ExperimentStep { action, fingerprint_hash: fingerprint_hash(&fingerprint), fingerprint }
    }
}
