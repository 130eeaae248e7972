//! One classifier of an experiment.

use xxhash_rust::xxh3::xxh3_64;

use super::{FitTarget, StrategyChoice};
use crate::classifier::BaselineStrategy;
use crate::measure::Metric;

/// A classifier: its budget, and how it is found.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassifierSpec {
    pub k: usize,
    pub method: ClassifierMethod,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ClassifierMethod {
    FrankWolfe(FitSpec),
    Baseline(BaselineStrategy),
}

/// A fit by Frank-Wolfe.
#[derive(Clone, Debug, PartialEq)]
pub struct FitSpec {
    pub metric: Metric,
    pub target: FitTarget,
    /// `None` if a seed makes no difference.
    pub seed: Option<u64>,
}

impl FitSpec {
    /// Returns the metric with its target: `macro-f1`, `expected macro-f1`.
    pub fn fitted_for(&self) -> String {
        match self.target {
            FitTarget::Labels => self.metric.text().to_owned(),
            FitTarget::Expected => format!("expected {}", self.metric.text()),
        }
    }
}

impl ClassifierSpec {
    pub fn strategy(&self) -> &'static str {
        match self.method {
            ClassifierMethod::FrankWolfe(_) => StrategyChoice::FrankWolfe.name(),
            ClassifierMethod::Baseline(strategy) => strategy.name(),
        }
    }

    /// Returns the fit; `None` for a baseline.
    pub fn fit(&self) -> Option<&FitSpec> {
        match &self.method {
            ClassifierMethod::FrankWolfe(fit) => Some(fit),
            ClassifierMethod::Baseline(_) => None,
        }
    }

    /// Returns the stem of the file names. It does not depend on the rest of the experiment, which may be extended.
    pub fn file_stem(&self) -> String {
        let mut name = format!("k{}-{}", self.k, self.strategy());
        let Some(FitSpec { metric, target, seed }) = self.fit() else { return name };
        name.push('-');
        name.push_str(&file_name(metric.text()));
        if *target == FitTarget::Expected {
            name.push_str("-expected");
        }
        if let Some(seed) = seed {
            name.push_str(&format!("-seed{seed}"));
        }
        name
    }

    /// Returns the name in messages: `k = 3, frank-wolfe for macro-f1`.
    pub fn description(&self) -> String {
        let mut text = format!("k = {}, {}", self.k, self.strategy());
        if let Some(fit) = self.fit() {
            text.push_str(&format!(" for {}", fit.fitted_for()));
            text.extend(fit.seed.map(|seed| format!(", seed {seed}")));
        }
        text
    }
}

/// Returns the metric as a part of a file name. Formulas have characters that file names should not have; without them two
/// formulas may be equal, so a hash is appended.
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
    fn similar_formulas_have_different_file_names() {
        let names = ["macro-f1", "macro(tp/fp)", "macro(tp*fp)", "macro(tp-fp)"].map(file_name);
        assert_eq!(names[0], "macro-f1");
        assert!(names[1].starts_with("macro_tp_fp-") && names[2].starts_with("macro_tp_fp-"), "{names:?}");
        let different: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
        assert!(file_name(&"macro-f1 + ".repeat(50)).len() < 60);
    }
}
