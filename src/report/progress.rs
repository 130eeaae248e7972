//! Progress on the console: lines, and a bar on a terminal.

use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};

use super::console::Console;
use crate::progress::Progress;

/// Prints messages and rows, and shows a bar on a terminal; a log file gets none.
pub struct ConsoleProgress<'c> {
    console: &'c Console,
    bar: Mutex<ProgressBar>,
}

impl<'c> ConsoleProgress<'c> {
    pub fn new(console: &'c Console) -> ConsoleProgress<'c> {
        ConsoleProgress { console, bar: Mutex::new(ProgressBar::hidden()) }
    }

    fn bar(&self) -> ProgressBar {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace_bar(&self, bar: ProgressBar) {
        let mut shown = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *shown, bar).finish_and_clear();
    }
}

impl Progress for ConsoleProgress<'_> {
    fn started(&self, work: &str, total: u64, done: u64) {
        if !self.console.is_interactive() {
            return;
        }
        let bar = ProgressBar::new(total).with_message(work.to_owned()).with_position(done);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} {eta}") {
            bar.set_style(style);
        }
        self.replace_bar(bar);
    }

    fn advanced(&self, units: u64) {
        self.bar().inc(units);
    }

    fn row(&self, line: &str) {
        self.message(line);
    }

    fn message(&self, text: &str) {
        self.bar().suspend(|| self.console.line(text));
    }

    fn warning(&self, text: &str) {
        self.bar().suspend(|| self.console.warn(text));
    }

    fn finished(&self) {
        self.replace_bar(ProgressBar::hidden());
    }
}
