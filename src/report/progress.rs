//! A progress bar on long work, when somebody watches.

use indicatif::{ProgressBar, ProgressStyle};

use super::console::Console;

/// A bar on a terminal, nothing elsewhere: a log file is not a screen.
pub struct Progress(ProgressBar);

impl Progress {
    pub fn new(console: &Console, what: &'static str, total: u64) -> Progress {
        if !console.is_interactive() {
            return Progress(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(total).with_message(what);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} {eta}") {
            bar.set_style(style);
        }
        Progress(bar)
    }

    pub fn advance(&self, by: u64) {
        self.0.inc(by);
    }

    pub fn finish(self) {
        self.0.finish_and_clear();
    }
}
