//! One step of an experiment.

use xxhash_rust::xxh3::xxh3_128;

use super::ClassifierSpec;
use crate::checkpoint::Fingerprint;

/// One of the two samples of an experiment.
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

/// The work of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Generates or splits data.
    MakeData(FitOrTest),
    /// Fits a classifier or computes a baseline.
    MakeClassifier(ClassifierSpec),
    /// Evaluates the classifier on the test rows.
    Evaluate(ClassifierSpec),
}

impl Action {
    /// Returns the stem of the name of the step's record.
    pub fn file_stem(&self) -> String {
        match self {
            Action::MakeData(part) => format!("data-{}", part.name()),
            Action::MakeClassifier(spec) => format!("classifier-{}", spec.file_stem()),
            Action::Evaluate(spec) => format!("evaluation-{}", spec.file_stem()),
        }
    }

    /// Whether later steps of this kind may have to run to their end: fits stop between iterations, and data steps come
    /// first.
    pub(super) fn runs_to_end(&self) -> bool {
        match self {
            Action::MakeData(_) => false,
            Action::MakeClassifier(spec) => spec.fit().is_none(),
            Action::Evaluate(_) => true,
        }
    }

    /// Returns the name of the step in messages.
    pub fn description(&self) -> String {
        match self {
            Action::MakeData(part) => format!("make {} data", part.name()),
            Action::MakeClassifier(spec) if spec.fit().is_some() => {
                format!("fit       {}", spec.description())
            }
            Action::MakeClassifier(spec) => format!("baseline  {}", spec.description()),
            Action::Evaluate(spec) => format!("evaluate  {}", spec.description()),
        }
    }
}

/// An action and everything that its result depends on.
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

/// Returns a hash of the facts, in hexadecimal digits.
pub(super) fn fingerprint_hash(facts: &Fingerprint) -> String {
    format!("{:032x}", xxh3_128(facts.to_text().as_bytes()))
}
