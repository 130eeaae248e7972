//! Progress of a fit within an experiment: a line from time to time.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::classifier_spec::ClassifierSpec;
use crate::progress::Progress;
use crate::report::Console;

/// Prints the progress of a long fit.
pub(super) struct FitProgress<'c> {
    console: &'c Console,
    name: String,
    last_status: Mutex<Instant>,
}

impl<'c> FitProgress<'c> {
    const STATUS_INTERVAL: Duration = Duration::from_secs(20);

    pub fn new(console: &'c Console, spec: &ClassifierSpec) -> FitProgress<'c> {
        FitProgress { console, name: spec.description(), last_status: Mutex::new(Instant::now()) }
    }
}

impl Progress for FitProgress<'_> {
    fn status(&self, text: &str) {
        let mut last = self.last_status.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= FitProgress::STATUS_INTERVAL {
            *last = Instant::now();
            self.message(text);
        }
    }

    fn message(&self, text: &str) {
        self.console.line(format_args!("{}: {text}", self.name));
    }

    fn warning(&self, text: &str) {
        self.console.warn(text);
    }
}
