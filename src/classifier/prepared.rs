//! A rule and everything about it that is the same for all rows.

use std::cmp::Ordering;

use super::kernel::{Kernel, Table};
use super::rule::{Candidates, Rule};
use super::select::Found;
use crate::shard::Marginals;

/// A rule made ready for many rows of the same marginals.
pub struct Prepared<'m> {
    pub(super) k: usize,
    pub(super) candidates: Candidates,
    pub(super) kernel: Kernel,
    pub(super) table: Table,
    names: Option<&'m [u32]>,
    /// Columns by falling intercept (then rising label), as many as any row can need: what labels
    /// without a stored marginal compete with.
    pub(super) by_intercept: Vec<u32>,
    /// No label that a row of more than k entries does not store scores above this.
    best_unstored: f32,
}

impl<'m> Prepared<'m> {
    /// # Panics
    /// When there are fewer than `k` labels, or the rule is for another number of them.
    pub fn new(rule: &Rule, k: usize, candidates: Candidates, marginals: &'m Marginals) -> Self {
        Prepared::with(Kernel::best(), rule, k, candidates, marginals)
    }

    /// With instructions of choice.
    pub(super) fn with(
        kernel: Kernel,
        rule: &Rule,
        k: usize,
        candidates: Candidates,
        marginals: &'m Marginals,
    ) -> Self {
        let labels = rule.labels();
        assert!(k <= labels, "cannot predict {k} of {labels} labels");
        assert_eq!(labels, marginals.labels(), "a rule for the labels of the marginals");
        let names = marginals.names();
        let table = Table::new(labels, |column| {
            let label = names.map_or(column, |names| names[column] as usize);
            (rule.slopes[label], rule.intercepts[label])
        });
        // A row rules out at most its own entries; k others are enough.
        let wanted = (k + marginals.longest_row()).min(labels);
        let by_intercept = best_intercepts(&table, labels, names, wanted);
        let best_unstored = match candidates {
            Candidates::All => {
                by_intercept.first().map_or(f32::NEG_INFINITY, |&column| table.pair(column as usize).1)
            }
            Candidates::Support => f32::NEG_INFINITY,
        };
        Prepared { k, candidates, kernel, table, names, by_intercept, best_unstored }
    }

    pub(super) fn score(&self, column: u32, marginal: f32) -> f64 {
        let (slope, intercept) = self.table.pair(column as usize);
        f64::from(slope) * f64::from(marginal) + f64::from(intercept)
    }

    pub(super) fn rival(&self, column: u32, marginal: f32, position: u32) -> Rival {
        let label = self.names.map_or(column, |names| names[column as usize]);
        Rival { score: self.score(column, marginal), label, column, position, marginal }
    }

    /// Whether a label that the row does not store could be among its best k.
    pub(super) fn unstored_compete(&self, found: &Found) -> bool {
        match found {
            Found::Everything => true,
            // A single score above the best intercept, itself a single, is of an exact score above it.
            Found::Best(least) => self.best_unstored >= *least,
        }
    }
}

/// The `wanted` columns of largest intercept, best first; of equal ones the smaller label.
fn best_intercepts(table: &Table, labels: usize, names: Option<&[u32]>, wanted: usize) -> Vec<u32> {
    let falling = |a: &(f32, u32, u32), b: &(f32, u32, u32)| {
        b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1))
    };
    let mut best: Vec<(f32, u32, u32)> = Vec::with_capacity(2 * wanted);
    let mut last = None;
    for column in 0..labels {
        let label = names.map_or(column as u32, |names| names[column]);
        let this = (table.pair(column).1, label, column as u32);
        if last.is_some_and(|last| falling(&this, &last) == Ordering::Greater) {
            continue;
        }
        best.push(this);
        // Full: only what is better than the worst one wanted can still matter.
        if best.len() == 2 * wanted && wanted > 0 {
            best.select_nth_unstable_by(wanted - 1, falling);
            best.truncate(wanted);
            last = Some(best[wanted - 1]);
        }
    }
    best.sort_unstable_by(falling);
    best.truncate(wanted);
    best.into_iter().map(|(_, _, column)| column).collect()
}

/// A label that is looked at in double precision.
#[derive(Clone, Copy)]
pub(super) struct Rival {
    pub score: f64,
    pub label: u32,
    pub column: u32,
    /// Its place among the entries of the row, if it has one.
    pub position: u32,
    pub marginal: f32,
}

impl Rival {
    /// Largest score first, then smallest label.
    pub fn order(&self, other: &Rival) -> Ordering {
        other.score.partial_cmp(&self.score).unwrap_or(Ordering::Equal).then(self.label.cmp(&other.label))
    }
}
