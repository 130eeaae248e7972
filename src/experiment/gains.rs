//! What fitting was good for: on the metric it was fitted for, against the best of what needs no fitting.

use super::classifier_spec::ClassifierMethod;
use super::comparison::mean;
use super::results::{ClassifierResult, Results};
use crate::report::{Align, Table};

/// A fitted classifier and its best competitor.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    pub k: usize,
    pub fitted_for: String,
    pub fitted: f64,
    /// The best baseline and its value.
    pub baseline: (&'static str, f64),
}

impl Results {
    /// One for each budget and fit; none where there is nothing to compare with.
    pub fn gains(&self) -> Vec<Gain> {
        let gain = |group: &Vec<&ClassifierResult>| {
            let spec = &group[0].spec;
            let metric = spec.metric()?;
            let rivals = self.classifiers.iter().filter(|found| found.spec.k == spec.k);
            let rivals = rivals.filter(|found| matches!(found.spec.method, ClassifierMethod::Baseline(_)));
            let rivals = rivals.map(|found| (found.spec.strategy(), found.value(metric).mean));
            let baseline = rivals.max_by(|a, b| a.1.total_cmp(&b.1))?;
            let fitted_for = spec.fitted_for()?;
            Some(Gain { k: spec.k, fitted_for, fitted: mean(group, metric), baseline })
        };
        self.groups().iter().filter_map(gain).collect()
    }

    /// For people; nothing where there is nothing to compare with.
    pub fn gains_text(&self) -> String {
        let columns = [("fitted for", Align::Left), ("k", Align::Right), ("fitted", Align::Right)];
        let mut table = Table::new(&[&columns[..], &[("best baseline", Align::Left)]].concat());
        let gains = self.gains();
        for Gain { k, fitted_for, fitted, baseline: (name, value) } in &gains {
            table.row([
                fitted_for.clone(),
                k.to_string(),
                format!("{fitted:.4}"),
                format!("{value:.4} {name}"),
            ]);
        }
        if gains.is_empty() {
            String::new()
        } else {
            format!("Each on the metric it was fitted for\n{table}\n")
        }
    }
}
