//! What is compared: one classifier of the experiment.

use xxhash_rust::xxh3::xxh3_64;

use super::{FitTarget, StrategyChoice};
use crate::classifier::BaselineStrategy;
use crate::measure::Metric;

/// One classifier: its budget, and how it is found.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassifierSpec {
    pub k: usize,
    pub method: ClassifierMethod,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ClassifierMethod {
    FrankWolfe {
        metric: Metric,
        target: FitTarget,
        /// Only where a seed makes a difference.
        seed: Option<u64>,
    },
    Baseline(BaselineStrategy),
}

impl ClassifierSpec {
    pub fn strategy(&self) -> &'static str {
        match &self.method {
            ClassifierMethod::FrankWolfe { .. } => StrategyChoice::FrankWolfe.name(),
            ClassifierMethod::Baseline(strategy) => StrategyChoice::Baseline(*strategy).name(),
        }
    }

    /// The metric it is fitted for; baselines are fitted for none.
    pub fn metric(&self) -> Option<&str> {
        match &self.method {
            ClassifierMethod::FrankWolfe { metric, .. } => Some(metric.text()),
            ClassifierMethod::Baseline(_) => None,
        }
    }

    pub fn target(&self) -> Option<FitTarget> {
        match self.method {
            ClassifierMethod::FrankWolfe { target, .. } => Some(target),
            ClassifierMethod::Baseline(_) => None,
        }
    }

    pub fn seed(&self) -> Option<u64> {
        match self.method {
            ClassifierMethod::FrankWolfe { seed, .. } => seed,
            ClassifierMethod::Baseline(_) => None,
        }
    }

    /// The stem of its files. It does not depend on what else is in the experiment, so that more can be added later.
    pub fn file_stem(&self) -> String {
        let mut name = format!("k{}-{}", self.k, self.strategy());
        if let Some(metric) = self.metric() {
            name.push('-');
            name.push_str(&file_name(metric));
        }
        if self.target() == Some(FitTarget::Expected) {
            name.push_str("-expected");
        }
        if let Some(seed) = self.seed() {
            name.push_str(&format!("-seed{seed}"));
        }
        name
    }

    /// For people: `k = 3, frank-wolfe for macro-f1`.
    pub fn description(&self) -> String {
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
            Some(FitTarget::Expected) => format!("expected {metric}"),
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
