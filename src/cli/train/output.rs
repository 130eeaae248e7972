//! What people see of a training.

use std::sync::Mutex;

use serde_json::{Map, Value, json};

use crate::estimate::TrainingObserver;
use crate::format::{format_count, format_seconds};
use crate::report::{Align, Console, Progress, Table};
use crate::store::ModelFile;

/// Lines, warnings and a progress bar.
pub(super) struct TrainPrinter<'c> {
    console: &'c Console,
    progress: Mutex<Option<Progress>>,
}

impl<'c> TrainPrinter<'c> {
    pub fn new(console: &'c Console) -> TrainPrinter<'c> {
        TrainPrinter { console, progress: Mutex::new(None) }
    }

    fn replace(&self, next: Option<Progress>) {
        let mut progress = self.progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(before) = std::mem::replace(&mut *progress, next) {
            before.finish();
        }
    }

    pub fn finish(&self) {
        self.replace(None);
    }
}

impl TrainingObserver for TrainPrinter<'_> {
    fn message(&self, text: &str) {
        self.console.line(text);
    }

    fn warn(&self, text: &str) {
        self.console.warn(text);
    }

    fn begin_work(&self, what: &'static str, total: u64, done: u64) {
        let progress = Progress::new(self.console, what, total);
        progress.advance(done);
        self.replace(Some(progress));
    }

    fn advance(&self, units: u64) {
        let progress = self.progress.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        progress.iter().for_each(|progress| progress.advance(units));
    }
}

/// What a model is, and how it was made.
pub(super) fn print_model(console: &Console, file: &ModelFile) {
    console.line(format_args!(
        "model '{}': {} features, {} labels, seed {}; trained in {}",
        file.estimator,
        format_count(file.features),
        format_count(file.labels),
        file.seed,
        format_seconds(file.seconds),
    ));
    for (what, facts) in [("options", &file.options), ("record", &file.record)] {
        let Value::Object(facts) = facts else { continue };
        // Lists are for programs.
        let listed = facts.iter().filter(|(_, value)| !value.is_array()).map(|(name, value)| match value {
            Value::String(text) => format!("{name} {text}"),
            value => format!("{name} {value}"),
        });
        let listed: Vec<String> = listed.collect();
        console.line(format_args!("{what}: {}", listed.join(", ")));
    }
}

/// The same for `inspect`, with what is in the file.
pub(in crate::cli) fn describe_model(console: &Console, file: &ModelFile, facts: &mut Map<String, Value>) {
    print_model(console, file);
    let mut table = Table::new(&[("array", Align::Left), ("shape", Align::Right)]);
    for (name, shape) in file.arrays() {
        let sizes: Vec<String> = shape.iter().map(|&size| format_count(size as u64)).collect();
        table.row([name.to_owned(), sizes.join(" x ")]);
    }
    console.line(table);
    facts.insert(
        "model".into(),
        json!({
            "estimator": file.estimator, "d": file.features, "m": file.labels, "seed": file.seed,
            "options": file.options, "record": file.record, "seconds": file.seconds,
        }),
    );
}
