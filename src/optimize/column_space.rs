//! The labels of a search, in the order of the columns of its passes.
//!
//! With many labels, columns are in another order than labels: frequent labels first, labels without a positive last
//! ([`Marginals::labels_by_column`]). A search in that order needs no look-up per label. Most metrics ignore labels without a
//! positive, so the search skips them; in long-tailed data they are the majority. Only its input and output are by label.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use crate::classifier::Mixture;
use crate::measure::{MeasureError, Metric, Objective, Population};
use crate::shard::{Column, Marginals};

#[derive(Clone, Copy)]
pub(super) struct ColumnSpace<'s> {
    marginals: &'s Marginals,
    /// The search has the labels of the first `columns` columns.
    pub columns: usize,
}

impl<'s> ColumnSpace<'s> {
    /// Chooses the labels for a metric with each of these epsilons, on data with this population by label. All ranks choose
    /// the same.
    pub fn new(
        marginals: &'s Marginals,
        population: &Population,
        metric: &Metric,
        k: usize,
        epsilons: &[f64],
    ) -> Self {
        let labels = marginals.labels();
        let seen = |&label: &u32| population.positives[label as usize] > 0;
        let ignores_labels_without_positives =
            || epsilons.iter().all(|&epsilon| metric.bind(k, epsilon).ignores_labels_without_positives());
        let columns = match marginals.labels_by_column() {
            Some(names) if ignores_labels_without_positives() => {
                names.iter().rposition(seen).map_or(labels, |last| last + 1)
            }
            _ => labels,
        };
        ColumnSpace { marginals, columns }
    }

    /// Binds a metric to tensors of the search.
    pub fn bind(&self, metric: &Metric, k: usize, epsilon: f64) -> Objective {
        metric.bind(k, epsilon).omitting_labels(self.marginals.labels() - self.columns)
    }

    /// Returns the population of the search's labels.
    pub fn restrict_population(&self, population: &Population) -> Population {
        let Some(names) = self.marginals.labels_by_column() else { return population.clone() };
        let positives = names[..self.columns].iter().map(|&label| population.positives[label as usize]);
        Population { positives: positives.collect(), ..*population }
    }

    /// Converts a classifier by label into one by column.
    pub fn to_columns(self, mixture: Mixture) -> Mixture {
        let rules = mixture.rules.into_iter();
        let arranged = rules.map(|rule| match rule.by_column(self.marginals) {
            Cow::Borrowed(_) => rule,
            Cow::Owned(arranged) => Arc::new(arranged),
        });
        Mixture { rules: arranged.collect(), ..mixture }
    }

    /// Converts the classifier of a search into one by label.
    pub fn to_labels(self, mixture: Mixture) -> Mixture {
        let rules = mixture.rules.into_par_iter().map(|rule| rule.by_label(self.marginals)).collect();
        Mixture { rules, ..mixture }
    }

    /// Replaces the column in an error by its label.
    pub fn error_by_label(&self, error: MeasureError) -> MeasureError {
        match error {
            MeasureError::Gradient { metric, label, cells, slope, intercept } => {
                let label = self.marginals.label(Column(label as u32)).index();
                MeasureError::Gradient { metric, label, cells, slope, intercept }
            }
            other => other,
        }
    }
}
