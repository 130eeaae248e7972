//! What is compared: one classifier of the experiment.

use xxhash_rust::xxh3::xxh3_64;

use super::{Choice, Target};
use crate::classifier::Strategy;
use crate::measure::Metric;

/// One classifier: its budget, and how it is found.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    pub k: usize,
    pub way: Way,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    FrankWolfe {
        metric: Metric,
        target: Target,
        /// Only where a seed makes a difference.
        seed: Option<u64>,
    },
    Baseline(Strategy),
}

impl Subject {
    pub fn strategy(&self) -> &'static str {
        match &self.way {
            Way::FrankWolfe { .. } => Choice::FrankWolfe.name(),
            Way::Baseline(strategy) => Choice::Baseline(*strategy).name(),
        }
    }

    /// The metric it is fitted for; baselines are fitted for none.
    pub fn metric(&self) -> Option<&str> {
        match &self.way {
            Way::FrankWolfe { metric, .. } => Some(metric.text()),
            Way::Baseline(_) => None,
        }
    }

    pub fn target(&self) -> Option<Target> {
        match self.way {
            Way::FrankWolfe { target, .. } => Some(target),
            Way::Baseline(_) => None,
        }
    }

    pub fn seed(&self) -> Option<u64> {
        match self.way {
            Way::FrankWolfe { seed, .. } => seed,
            Way::Baseline(_) => None,
        }
    }

    /// The stem of its files. It does not depend on what else is in the experiment, so that more can be added later.
    pub fn name(&self) -> String {
        let mut name = format!("k{}-{}", self.k, self.strategy());
        if let Some(metric) = self.metric() {
            name.push('-');
            name.push_str(&file_name(metric));
        }
        if self.target() == Some(Target::Expected) {
            name.push_str("-expected");
        }
        if let Some(seed) = self.seed() {
            name.push_str(&format!("-seed{seed}"));
        }
        name
    }

    /// For people: `k = 3, frank-wolfe for macro-f1`.
    pub fn shown(&self) -> String {
        let mut shown = format!("k = {}, {}", self.k, self.strategy());
        if let Some(metric) = self.fitted_for() {
            shown.push_str(&format!(" for {metric}"));
        }
        if let Some(seed) = self.seed() {
            shown.push_str(&format!(", seed {seed}"));
        }
        shown
    }

    /// The metric, and whether it was that of labels or of what the marginals promise.
    pub fn fitted_for(&self) -> Option<String> {
        let metric = self.metric()?;
        Some(match self.target() {
            Some(Target::Expected) => format!("expected {metric}"),
            _ => metric.to_owned(),
        })
    }
}

/// Formulas have signs that no file name should have; what is left of them may be the same for two formulas, so they
/// get a number too.
fn file_name(metric: &str) -> String {
    const LONGEST: usize = 40;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
    if metric.chars().all(plain) && metric.len() <= LONGEST {
        return metric.to_owned();
    }
    let words = metric.split(|c| !plain(c)).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    let short: String = words.chars().take(LONGEST).collect();
    format!("{short}-{:08x}", xxh3_64(metric.as_bytes()) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_that_look_alike_have_files_of_their_own() {
        let names = ["macro-f1", "macro(tp/fp)", "macro(tp*fp)", "macro(tp-fp)"].map(file_name);
        assert_eq!(names[0], "macro-f1");
        assert!(names[1].starts_with("macro_tp_fp-") && names[2].starts_with("macro_tp_fp-"), "{names:?}");
        let different: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
        assert!(file_name(&"macro-f1 + ".repeat(50)).len() < 60);
    }
}
