//! Progress of a fit within an experiment: a line from time to time.

use std::time::{Duration, Instant};

use super::classifier_spec::ClassifierSpec;
use crate::optimize::{FitState, Observer};
use crate::report::Console;

/// Prints the progress of a long fit.
pub(super) struct FitProgress<'c> {
    console: &'c Console,
    name: String,
    last: Instant,
}

impl<'c> FitProgress<'c> {
    const REPORT_INTERVAL: Duration = Duration::from_secs(20);

    pub fn new(console: &'c Console, spec: &ClassifierSpec) -> FitProgress<'c> {
        FitProgress { console, name: spec.description(), last: Instant::now() }
    }
}

impl Observer for FitProgress<'_> {
    fn fit_started(&mut self, state: &FitState, resumed: bool) {
        if resumed {
            let done = state.trajectory.len();
            self.console.line(format_args!("{}: going on after iteration {done}", self.name));
        }
    }

    fn step_taken(&mut self, state: &FitState) {
        if self.last.elapsed() < FitProgress::REPORT_INTERVAL {
            return;
        }
        self.last = Instant::now();
        let (name, done) = (&self.name, state.trajectory.len());
        self.console
            .line(format_args!("{name}: iteration {done}, {:.8}, gap {:.2e}", state.utility, state.gap));
    }

    fn warn(&mut self, text: &str) {
        self.console.warn(text);
    }
}

/// Prints warnings only.
pub(super) struct WarningPrinter<'c>(pub &'c Console);

impl Observer for WarningPrinter<'_> {
    fn warn(&mut self, text: &str) {
        self.0.warn(text);
    }
}
