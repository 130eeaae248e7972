//! The gain of fitting: each fit against the best baseline, on the metric of the fit.

use super::comparison::mean;
use super::results::{ClassifierResult, Results};
use crate::report::Table;

/// A fitted classifier and the best baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    pub k: usize,
    pub fitted_for: String,
    pub fitted: f64,
    /// The name of the best baseline and its value.
    pub baseline: (&'static str, f64),
}

impl Results {
    /// Returns the gain of each fit for which there is a baseline.
    pub fn gains(&self) -> Vec<Gain> {
        let gain = |group: &Vec<&ClassifierResult>| {
            let (k, fit) = (group[0].spec.k, group[0].spec.fit()?);
            let metric = fit.metric.text();
            let baselines =
                self.classifiers.iter().filter(|result| result.spec.k == k && result.spec.fit().is_none());
            let baselines = baselines.map(|result| (result.spec.strategy(), result.value(metric).mean));
            let baseline = baselines.max_by(|a, b| a.1.total_cmp(&b.1))?;
            Some(Gain { k, fitted_for: fit.fitted_for(), fitted: mean(group, metric), baseline })
        };
        self.groups().iter().filter_map(gain).collect()
    }

    /// Returns the gains as text; empty without any.
    pub fn gains_text(&self) -> String {
        let mut table = Table::new(&["fitted for", ">k", ">fitted", "best baseline"]);
        let gains = self.gains();
        if gains.is_empty() {
            return String::new();
        }
        for Gain { k, fitted_for, fitted, baseline: (name, value) } in gains {
            table.row([fitted_for, k.to_string(), format!("{fitted:.4}"), format!("{value:.4} {name}")]);
        }
        format!("Each on the metric it was fitted for\n{table}\n")
    }
}
