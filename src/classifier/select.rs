//! Exact top-k of one row, zero marginals included (DESIGN, promise 2).

use std::cmp::Ordering;

use super::rule::{Candidates, Rule};
use crate::shard::Row;

/// A predicted label.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pick {
    pub label: u32,
    pub score: f64,
    /// The estimated probability; 0 for a label the row does not store.
    pub marginal: f32,
}

impl Pick {
    /// Largest score first, then smallest label.
    fn better(&self, other: &Pick) -> bool {
        self.score > other.score || (self.score == other.score && self.label < other.label)
    }
}

/// A rule made ready for many rows.
pub struct Prepared {
    k: usize,
    candidates: Candidates,
    /// Slope and intercept side by side: one cache miss a label instead of two.
    pairs: Vec<(f32, f32)>,
    /// Labels by falling intercept (then rising label), as many as any row can need: what labels
    /// without a stored marginal compete with.
    by_intercept: Vec<u32>,
}

impl Prepared {
    /// `longest_row` is the largest number of stored entries of any row this will be used on.
    ///
    /// # Panics
    /// When there are fewer than `k` labels.
    pub fn new(rule: &Rule, k: usize, candidates: Candidates, longest_row: usize) -> Prepared {
        let labels = rule.labels();
        assert!(k <= labels, "cannot predict {k} of {labels} labels");
        let pairs: Vec<(f32, f32)> =
            rule.slopes.iter().copied().zip(rule.intercepts.iter().copied()).collect();
        // A row rules out at most its own entries; k others are enough.
        let wanted = (k + longest_row).min(labels);
        let mut order: Vec<u32> = (0..labels as u32).collect();
        let falling = |a: &u32, b: &u32| {
            let (x, y) = (pairs[*a as usize].1, pairs[*b as usize].1);
            y.partial_cmp(&x).unwrap_or(Ordering::Equal).then(a.cmp(b))
        };
        if wanted < labels {
            order.select_nth_unstable_by(wanted, falling);
            order.truncate(wanted);
        }
        order.sort_unstable_by(falling);
        Prepared { k, candidates, pairs, by_intercept: order }
    }

    fn score(&self, label: u32, marginal: f32) -> f64 {
        let (slope, intercept) = self.pairs[label as usize];
        f64::from(slope) * f64::from(marginal) + f64::from(intercept)
    }
}

/// Reusable space for the picks of one row.
#[derive(Default)]
pub struct Selector {
    picks: Vec<Pick>,
}

impl Selector {
    /// The k best labels of a row, best first.
    pub fn select(&mut self, rule: &Prepared, row: Row<'_>) -> &[Pick] {
        self.picks.clear();
        let mut threshold = f64::NEG_INFINITY;
        for (&label, &marginal) in row.columns.iter().zip(row.values) {
            let score = rule.score(label, marginal);
            // Columns ascend, so on a tie the label already there is the smaller one.
            if score > threshold || self.picks.len() < rule.k {
                self.insert(rule.k, Pick { label, score, marginal });
                if self.picks.len() == rule.k {
                    threshold = self.picks[rule.k - 1].score;
                }
            }
        }
        if rule.candidates == Candidates::All || self.picks.len() < rule.k {
            self.add_unstored(rule, row);
        }
        &self.picks
    }

    /// Lets labels with marginal 0 compete, best intercept first, until none can win.
    fn add_unstored(&mut self, rule: &Prepared, row: Row<'_>) {
        for &label in &rule.by_intercept {
            let pick = Pick { label, score: rule.score(label, 0.0), marginal: 0.0 };
            let full = self.picks.len() == rule.k;
            let stop = match rule.candidates {
                Candidates::All => full && !pick.better(&self.picks[rule.k - 1]),
                Candidates::Support => full,
            };
            if stop {
                break;
            }
            if row.columns.binary_search(&label).is_err() {
                match rule.candidates {
                    Candidates::All => self.insert(rule.k, pick),
                    // A filler never outranks a stored label.
                    Candidates::Support => self.picks.push(pick),
                }
            }
        }
    }

    fn insert(&mut self, k: usize, pick: Pick) {
        if self.picks.len() == k {
            self.picks.pop();
        }
        let mut at = self.picks.len();
        self.picks.push(pick);
        while at > 0 && pick.better(&self.picks[at - 1]) {
            self.picks[at] = self.picks[at - 1];
            at -= 1;
        }
        self.picks[at] = pick;
    }
}
