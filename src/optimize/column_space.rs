//! The labels of a search, in the order in which passes have them.
//!
//! With many labels a pass has them in an order of its own, the frequent ones first ([`crate::shard::Marginals::labels_by_column`]). A
//! search that keeps to it looks nothing up label by label. And those without a positive come last: most metrics take no
//! notice of them, so the search does without, which with a long tail are most. Only what goes in and comes out is by label.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use crate::classifier::Mixture;
use crate::measure::{MeasureError, Metric, Objective, Population};
use crate::shard::Marginals;

pub(super) struct ColumnSpace<'s> {
    marginals: &'s Marginals,
    /// Labels of the search: the first columns.
    columns: usize,
}

impl<'s> ColumnSpace<'s> {
    /// For a metric of data with this population, by label, with each of these epsilons. The same on all ranks.
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
            // Without a single one that was seen there is nothing to do without.
            Some(names) if ignores_labels_without_positives() => {
                names.iter().rposition(seen).map_or(labels, |last| last + 1)
            }
            _ => labels,
        };
        ColumnSpace { marginals, columns }
    }

    /// Labels of the search.
    pub fn column_count(&self) -> usize {
        self.columns
    }

    /// A metric for tensors of the search.
    pub fn bind(&self, metric: &Metric, k: usize, epsilon: f64) -> Objective {
        metric.bind(k, epsilon).omitting_labels(self.marginals.labels() - self.columns)
    }

    /// The population of these labels.
    pub fn restrict_population<'p>(&self, population: &'p Population) -> Cow<'p, Population> {
        let Some(names) = self.marginals.labels_by_column() else { return Cow::Borrowed(population) };
        let positives =
            names[..self.columns].iter().map(|&label| population.positives[label as usize]).collect();
        Cow::Owned(Population { positives, ..*population })
    }

    /// A classifier by label, as passes take it.
    pub fn to_columns(&self, mixture: Mixture) -> Mixture {
        let rules = mixture.rules.into_iter();
        let arranged = rules.map(|rule| match rule.by_column(self.marginals) {
            Cow::Borrowed(_) => rule,
            Cow::Owned(arranged) => Arc::new(arranged),
        });
        Mixture { rules: arranged.collect(), ..mixture }
    }

    /// The classifier of a search, by label.
    pub fn to_labels(&self, mixture: Mixture) -> Mixture {
        let rules = mixture.rules.into_par_iter().map(|rule| rule.by_label(self.marginals)).collect();
        Mixture { rules, ..mixture }
    }

    /// An error that names a label.
    pub fn error_by_label(&self, error: MeasureError) -> MeasureError {
        match error {
            MeasureError::Gradient { metric, label, cells, slope, intercept } => {
                let label = self.marginals.label(label as u32) as usize;
                MeasureError::Gradient { metric, label, cells, slope, intercept }
            }
            other => other,
        }
    }
}
