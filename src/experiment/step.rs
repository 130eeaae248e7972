//! One step of an experiment.

use super::Subject;
use super::identity::identity;
use crate::checkpoint::Fingerprint;

/// Which sample of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Fit,
    Test,
}

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Part::Fit => "fit",
            Part::Test => "test",
        }
    }
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Makes data.
    Make(Part),
    /// Finds a classifier.
    Find(Subject),
    /// Evaluates it on the test rows.
    Evaluate(Subject),
}

impl Work {
    /// The stem of its record.
    pub fn name(&self) -> String {
        match self {
            Work::Make(part) => format!("data-{}", part.name()),
            Work::Find(subject) => format!("classifier-{}", subject.name()),
            Work::Evaluate(subject) => format!("evaluation-{}", subject.name()),
        }
    }

    /// For people.
    pub fn shown(&self) -> String {
        match self {
            Work::Make(part) => format!("make {} data", part.name()),
            Work::Find(subject) if subject.metric().is_some() => format!("fit       {}", subject.shown()),
            Work::Find(subject) => format!("baseline  {}", subject.shown()),
            Work::Evaluate(subject) => format!("evaluate  {}", subject.shown()),
        }
    }
}

/// Work, and all that its result depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub work: Work,
    pub facts: Fingerprint,
    pub identity: String,
}

impl Step {
    pub fn new(work: Work, facts: Fingerprint) -> Step {
        Step { work, identity: identity(&facts), facts }
    }
}
