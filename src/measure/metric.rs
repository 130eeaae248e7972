//! A metric as the user wrote it.

use pulp::Arch;

use super::aggregate::Aggregate;
use super::formula::{self, Formula, FormulaError, lower};
use super::objective::Objective;

/// A metric: its text and its formula, in the language of [`super::catalogue_help`].
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    text: String,
    formula: Formula,
}

impl Metric {
    pub fn parse(text: &str) -> Result<Metric, FormulaError> {
        Ok(Metric { text: text.trim().to_string(), formula: formula::parse(text)? })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Fixes the budget and the `epsilon` of denominators, on the scale of fractions of the rows. `k` must be at least 1,
    /// and `epsilon` small, positive and finite.
    pub fn bind(&self, k: usize, epsilon: f64) -> Objective {
        let aggregations = self.formula.aggregations.iter();
        Objective {
            text: self.text.clone(),
            budget: k,
            aggregates: aggregations
                .map(|a| Aggregate::new(a.kind, a.body.clone(), k as f64, epsilon))
                .collect(),
            outer: lower(&self.formula.outer, k as f64, epsilon),
            omitted_labels: 0,
            arch: Arch::new(),
        }
    }
}
