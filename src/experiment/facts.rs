//! What a result depends on, fact by fact.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

/// Named facts. Two computations whose facts are the same give the same result; when they are not, the difference
/// can be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts(Vec<(String, String)>);

impl Facts {
    pub fn of_program() -> Facts {
        Facts::default().with("version", env!("CARGO_PKG_VERSION"))
    }

    pub fn with(mut self, name: &str, value: impl Display) -> Facts {
        self.0.push((name.into(), value.to_string()));
        self
    }

    pub fn difference(&self, now: &Facts) -> Option<String> {
        let differing = self.0.iter().filter_map(|(name, made)| {
            let (_, now) = now.0.iter().find(|fact| fact.0 == *name)?;
            (now != made).then(|| (format!("{name} = {made}"), format!("{name} = {now}")))
        });
        let (made, now): (Vec<String>, Vec<String>) = differing.unzip();
        (!made.is_empty())
            .then(|| format!("made with {}, but this run has {}", made.join(", "), now.join(", ")))
    }

    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("names and values can be written as JSON")
    }
}

/// A number that stands for the facts, in hexadecimal digits.
pub fn identity(facts: &Facts) -> String {
    format!("{:032x}", xxh3_128(facts.to_text().as_bytes()))
}
