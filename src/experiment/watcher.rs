//! What is said of a fit while it goes on: little, because others follow.

use std::time::{Duration, Instant};

use super::subject::Subject;
use crate::optimize::{Observer, State};
use crate::report::Console;

/// Says something of a fit that takes long.
pub(super) struct Watcher<'c> {
    console: &'c Console,
    name: String,
    last: Instant,
}

impl<'c> Watcher<'c> {
    /// After so long somebody may wonder.
    const QUIET: Duration = Duration::from_secs(20);

    pub fn new(console: &'c Console, subject: &Subject) -> Watcher<'c> {
        Watcher { console, name: subject.shown(), last: Instant::now() }
    }
}

impl Observer for Watcher<'_> {
    fn began(&mut self, state: &State, resumed: bool) {
        if resumed {
            let done = state.trajectory.len();
            self.console.line(format_args!("{}: going on after iteration {done}", self.name));
        }
    }

    fn stepped(&mut self, state: &State) {
        if self.last.elapsed() < Watcher::QUIET {
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

/// Only warns.
pub(super) struct Warner<'c>(pub &'c Console);

impl Observer for Warner<'_> {
    fn warn(&mut self, text: &str) {
        self.0.warn(text);
    }
}
