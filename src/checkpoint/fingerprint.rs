//! What a computation depends on, fact by fact.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// Named facts. Two computations whose facts are the same give the same bits; when they are not, the difference can
/// be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint(Vec<(String, String)>);

impl Fingerprint {
    /// The facts about the program, which all computations share.
    pub fn of_program() -> Fingerprint {
        Fingerprint::default().with("version", env!("CARGO_PKG_VERSION"))
    }

    /// One more fact. Numbers of type f64 are shown with all the digits that tell them apart.
    pub fn with(mut self, name: &str, value: impl Display) -> Fingerprint {
        debug_assert!(self.0.iter().all(|fact| fact.0 != name), "{name} is told twice");
        self.0.push((name.into(), value.to_string()));
        self
    }

    /// The facts of both.
    pub fn merge(mut self, others: &Fingerprint) -> Fingerprint {
        self.0.extend(others.0.iter().cloned());
        self
    }

    /// `None` when all facts that both have are the same; otherwise `made with k = 3, but this run has k = 5`,
    /// where `self` is what was made.
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

    /// What [`Fingerprint::to_text`] gave; `None` for any other text.
    pub fn from_text(text: &str) -> Option<Fingerprint> {
        serde_json::from_str(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_spelled_out_fact_by_fact() {
        let made = Fingerprint::default().with("k", 3).with("metric", "macro-f1").with("epsilon", 1e-9);
        let now = Fingerprint::default().with("k", 5).with("metric", "coverage").with("epsilon", 1e-9);
        assert_eq!(
            made.difference(&now).unwrap(),
            "made with k = 3, metric = macro-f1, but this run has k = 5, metric = coverage"
        );
        assert_eq!(made.difference(&made), None);
    }

    #[test]
    fn facts_not_known_yet_are_no_difference() {
        let made = Fingerprint::default().with("k", 3).with("instances", 100);
        assert_eq!(made.difference(&Fingerprint::default().with("k", 3)), None);
    }

    #[test]
    fn neighbouring_numbers_are_told_apart() {
        let (one, next) = (0.1f64, 0.1f64.next_up());
        assert!(
            Fingerprint::default()
                .with("x", one)
                .difference(&Fingerprint::default().with("x", next))
                .is_some()
        );
    }

    #[test]
    fn text_and_back() {
        let facts = Fingerprint::of_program().with("metric", "\"quoted\" / ünïcode");
        assert_eq!(Fingerprint::from_text(&facts.to_text()), Some(facts));
        assert_eq!(Fingerprint::from_text("no facts"), None);
    }
}
