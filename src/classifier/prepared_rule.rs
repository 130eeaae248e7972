//! A rule with everything about it that is the same for all rows.

use super::kernel::{CoefficientTable, Kernel};
use super::rule::{Candidates, Rule};
use super::select::Pick;
use super::zero_labels::ZeroLabels;
use crate::shard::{Column, LabelId, Marginals};

/// A rule prepared for many rows of the same marginals.
pub(super) struct PreparedRule<'m> {
    pub(super) k: usize,
    pub(super) candidates: Candidates,
    pub(super) kernel: Kernel,
    pub(super) table: CoefficientTable,
    labels_by_column: Option<&'m [u32]>,
    pub(super) zero_labels: ZeroLabels,
}

impl<'m> PreparedRule<'m> {
    /// # Panics
    /// If there are fewer than `k` labels, or the rule has another number of labels.
    pub fn new(rule: &Rule, k: usize, candidates: Candidates, marginals: &'m Marginals) -> Self {
        let table = CoefficientTable::new(marginals.labels(), marginals.coding());
        let rule = rule.by_column(marginals);
        PreparedRule::with_kernel(Kernel::fastest(), &rule, k, candidates, marginals, table)
    }

    /// Prepares a rule by column ([`Rule::by_column`]) for a given kernel, in a table of the right size whose contents
    /// are overwritten.
    pub(super) fn with_kernel(
        kernel: Kernel,
        rule: &Rule,
        k: usize,
        candidates: Candidates,
        marginals: &'m Marginals,
        mut table: CoefficientTable,
    ) -> Self {
        let labels = marginals.labels();
        assert!(k <= labels, "cannot predict {k} of {labels} labels");
        assert!(rule.labels() <= labels, "a rule for the labels of the marginals");
        let pair = |column: usize| (rule.slopes[column], rule.intercepts[column]);
        table.fill(rule.labels(), pair, labels, Rule::WITHOUT_POSITIVES);
        let labels_by_column = marginals.labels_by_column();
        // A row skips at most as many zero labels as it has entries.
        let wanted = (k + marginals.longest_row()).min(labels);
        let zero_labels = ZeroLabels::new(&table, labels, labels_by_column, wanted, marginals.coding());
        PreparedRule { k, candidates, kernel, table, labels_by_column, zero_labels }
    }

    /// Returns an upper bound of the zero labels that compete with entries.
    #[inline]
    pub(super) fn best_zero_score(&self) -> f32 {
        match self.candidates {
            Candidates::All => self.zero_labels.best_intercept(),
            Candidates::Support => f32::NEG_INFINITY,
        }
    }

    pub(super) fn score(&self, column: Column, marginal: f32) -> f64 {
        let (slope, intercept) = self.table.coefficients(column.index());
        f64::from(slope) * f64::from(marginal) + f64::from(intercept)
    }

    pub(super) fn pick(&self, column: Column, marginal: f32) -> Pick {
        let label = LabelId(self.labels_by_column.map_or(column.0, |labels| labels[column.index()]));
        Pick { score: self.score(column, marginal), label, marginal }
    }

    /// Returns whether a zero label could be among the best k labels of a row whose best k entries have single scores
    /// of at least `least`. An exact score whose single score is above the best intercept, itself a single, is above it.
    #[inline]
    pub(super) fn zero_labels_compete(&self, least: f32) -> bool {
        self.best_zero_score() >= least
    }
}
