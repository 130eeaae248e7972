//! The facts that a computation depends on.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// Named facts. Computations with the same facts give the same bits; otherwise the difference can be reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint(Vec<(String, String)>);

impl Fingerprint {
    /// Returns the facts about the program, which are part of every fingerprint.
    pub fn of_program() -> Fingerprint {
        Fingerprint::default().with("version", env!("CARGO_PKG_VERSION"))
    }

    /// Adds a fact. Different numbers of type f64 have different texts.
    pub fn with(mut self, name: &str, value: impl Display) -> Fingerprint {
        debug_assert!(self.0.iter().all(|fact| fact.0 != name), "{name} is already a fact");
        self.0.push((name.into(), value.to_string()));
        self
    }

    /// Joins the facts of both.
    pub fn merge(mut self, others: &Fingerprint) -> Fingerprint {
        self.0.extend(others.0.iter().cloned());
        self
    }

    /// Returns `None` if all common facts are equal; otherwise `made with k = 3, but this run has k = 5`, where `self` is the
    /// fingerprint of an earlier run.
    pub fn difference(&self, now: &Fingerprint) -> Option<String> {
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

    /// Parses the text of [`Fingerprint::to_text`].
    pub fn from_text(text: &str) -> Option<Fingerprint> {
        serde_json::from_str(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_each_differing_fact() {
        let made = Fingerprint::default().with("k", 3).with("metric", "macro-f1").with("epsilon", 1e-9);
        let now = Fingerprint::default().with("k", 5).with("metric", "coverage").with("epsilon", 1e-9);
        assert_eq!(
            made.difference(&now).unwrap(),
            "made with k = 3, metric = macro-f1, but this run has k = 5, metric = coverage"
        );
        assert_eq!(made.difference(&made), None);
    }

    #[test]
    fn ignores_facts_of_one_side_only() {
        let made = Fingerprint::default().with("k", 3).with("instances", 100);
        assert_eq!(made.difference(&Fingerprint::default().with("k", 3)), None);
    }

    #[test]
    fn distinguishes_neighbouring_numbers() {
        let (one, next) = (0.1f64, 0.1f64.next_up());
        assert!(
            Fingerprint::default()
                .with("x", one)
                .difference(&Fingerprint::default().with("x", next))
                .is_some()
        );
    }

    #[test]
    fn survives_conversion_to_text() {
        let facts = Fingerprint::of_program().with("metric", "\"quoted\" / ünïcode");
        assert_eq!(Fingerprint::from_text(&facts.to_text()), Some(facts));
        assert_eq!(Fingerprint::from_text("no facts"), None);
    }
}
