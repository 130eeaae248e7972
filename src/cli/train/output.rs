//! Output of a training.

use serde_json::{Map, Value, json};

use crate::format::{format_count, format_seconds};
use crate::report::{Console, Table};
use crate::store::ModelFile;

/// Prints the facts of a model and its training.
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
        // Lists are only in the JSON.
        let listed = facts.iter().filter(|(_, value)| !value.is_array()).map(|(name, value)| match value {
            Value::String(text) => format!("{name} {text}"),
            value => format!("{name} {value}"),
        });
        let listed: Vec<String> = listed.collect();
        console.line(format_args!("{what}: {}", listed.join(", ")));
    }
}

/// Prints the same for `inspect`, with the arrays of the file.
pub(in crate::cli) fn describe_model(console: &Console, file: &ModelFile, facts: &mut Map<String, Value>) {
    print_model(console, file);
    let mut table = Table::new(&["array", ">shape"]);
    for (name, shape) in file.arrays() {
        let sizes: Vec<String> = shape.iter().map(|&size| format_count(size as u64)).collect();
        table.row([name.to_owned(), sizes.join(" x ")]);
    }
    console.table(&table);
    facts.insert(
        "model".into(),
        json!({
            "estimator": file.estimator, "d": file.features, "m": file.labels, "seed": file.seed,
            "options": file.options, "record": file.record, "seconds": file.seconds,
        }),
    );
}
