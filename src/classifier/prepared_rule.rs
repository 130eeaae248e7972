//! A rule and everything about it that is the same for all rows.

use std::cmp::Ordering;

use super::kernel::{CoefficientTable, Kernel};
use super::rule::{Candidates, Rule};
use super::zero_labels::ZeroLabels;
use crate::shard::Marginals;

/// A rule made ready for many rows of the same marginals.
pub struct PreparedRule<'m> {
    pub(super) k: usize,
    pub(super) candidates: Candidates,
    pub(super) kernel: Kernel,
    pub(super) table: CoefficientTable,
    labels_by_column: Option<&'m [u32]>,
    /// What labels without a stored marginal compete with.
    pub(super) zero_labels: ZeroLabels,
}

impl<'m> PreparedRule<'m> {
    /// # Panics
    /// When there are fewer than `k` labels, or the rule is for another number of them.
    pub fn new(rule: &Rule, k: usize, candidates: Candidates, marginals: &'m Marginals) -> Self {
        let table = CoefficientTable::new(marginals.labels(), marginals.coding());
        PreparedRule::with_kernel(
            Kernel::fastest(),
            &rule.by_column(marginals),
            k,
            candidates,
            marginals,
            table,
        )
    }

    /// With instructions of choice, in a table of the right size that is needed no more, and a rule as [`Rule::by_column`] gives
    /// it.
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
        // A row rules out at most its own entries; k others are enough.
        let wanted = (k + marginals.longest_row()).min(labels);
        let zero_labels = ZeroLabels::new(&table, labels, labels_by_column, wanted, marginals.coding());
        PreparedRule { k, candidates, kernel, table, labels_by_column, zero_labels }
    }

    /// What no label scores above that a row of more than k entries chooses without storing it.
    #[inline]
    pub(super) fn best_zero_score(&self) -> f32 {
        match self.candidates {
            Candidates::All => self.zero_labels.best_intercept(),
            Candidates::Support => f32::NEG_INFINITY,
        }
    }

    /// The table, to be used again.
    pub(super) fn into_table(self) -> CoefficientTable {
        self.table
    }

    pub(super) fn score(&self, column: u32, marginal: f32) -> f64 {
        let (slope, intercept) = self.table.coefficients(column as usize);
        f64::from(slope) * f64::from(marginal) + f64::from(intercept)
    }

    pub(super) fn scored_label(&self, column: u32, marginal: f32) -> ScoredLabel {
        let label =
            self.labels_by_column.map_or(column, |labels_by_column| labels_by_column[column as usize]);
        ScoredLabel { score: self.score(column, marginal), label, column, position: 0, marginal }
    }

    /// Whether a label that the row does not store could be among its best k, of which no stored one has a single
    /// score below `least`.
    #[inline]
    pub(super) fn zero_labels_compete(&self, least: f32) -> bool {
        // A single score above the best intercept, itself a single, is of an exact score above it.
        self.best_zero_score() >= least
    }
}

/// A label that is looked at in double precision.
#[derive(Clone, Copy)]
pub(super) struct ScoredLabel {
    pub score: f64,
    pub label: u32,
    pub column: u32,
    /// Its place among the entries of the row, if it is one of them.
    pub position: u32,
    pub marginal: f32,
}

impl ScoredLabel {
    /// Largest score first, then smallest label.
    pub fn best_first(&self, other: &ScoredLabel) -> Ordering {
        other.score.partial_cmp(&self.score).unwrap_or(Ordering::Equal).then(self.label.cmp(&other.label))
    }
}
