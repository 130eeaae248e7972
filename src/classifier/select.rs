//! Exact top-k of one row, zero marginals included (DESIGN, promise 2).
//!
//! Single precision finds the best entries ([`super::kernel`]); where it cannot tell the k-th from the
//! next, and for everything that is ordered, scores are taken in double precision, in which the product
//! of a slope and a marginal is exact.

use std::cmp::Ordering;

use super::kernel::{BOUNDED, Kernel, Space, Table};
use super::rule::{Candidates, Rule};
use super::threshold::{APART, Threshold, from_step, nth_of_few, step};
use crate::shard::{Column, Entries, Marginals, Row};

/// A predicted label.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pick {
    pub label: u32,
    pub score: f64,
    /// The estimated probability; 0 for a label the row does not store.
    pub marginal: f32,
}

/// A chosen label by its column, before anything is looked up for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub column: u32,
    pub marginal: f32,
}

/// A rule made ready for many rows of the same marginals.
pub struct Prepared<'m> {
    k: usize,
    candidates: Candidates,
    kernel: Kernel,
    table: Table,
    names: Option<&'m [u32]>,
    /// Columns by falling intercept (then rising label), as many as any row can need: what labels
    /// without a stored marginal compete with.
    by_intercept: Vec<u32>,
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

    fn score(&self, column: u32, marginal: f32) -> f64 {
        let (slope, intercept) = self.table.pair(column as usize);
        f64::from(slope) * f64::from(marginal) + f64::from(intercept)
    }

    fn rival(&self, column: u32, marginal: f32) -> Rival {
        let label = self.names.map_or(column, |names| names[column as usize]);
        Rival { score: self.score(column, marginal), label, column, marginal }
    }

    /// Whether a label that the row does not store could be among its best k.
    fn unstored_compete(&self, found: &Found) -> bool {
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
struct Rival {
    score: f64,
    label: u32,
    column: u32,
    marginal: f32,
}

impl Rival {
    /// Largest score first, then smallest label.
    fn order(&self, other: &Rival) -> Ordering {
        other.score.partial_cmp(&self.score).unwrap_or(Ordering::Equal).then(self.label.cmp(&other.label))
    }
}

/// What single precision found.
enum Found {
    /// `positions` are the best k; none of their single scores is below this.
    Best(f32),
    /// There are no more than k entries: `positions` are all of them.
    Everything,
}

/// Reusable space for the picks of one row.
#[derive(Default)]
pub struct Selector {
    space: Space,
    /// Entries that are chosen.
    positions: Vec<u32>,
    /// Entries that single precision cannot tell apart: exact score and position.
    close: Vec<(f64, u32)>,
    rivals: Vec<Rival>,
    picks: Vec<Pick>,
    threshold: Threshold,
}

impl Selector {
    /// The k best labels of a row, best first.
    pub fn select(&mut self, rule: &Prepared<'_>, row: Row<'_>) -> &[Pick] {
        match row {
            Row::Narrow(row) => self.rank(rule, row),
            Row::Wide(row) => self.rank(rule, row),
        }
        self.picks.clear();
        let pick = |rival: &Rival| Pick { label: rival.label, score: rival.score, marginal: rival.marginal };
        self.picks.extend(self.rivals.iter().map(pick));
        &self.picks
    }

    /// Adds the k best labels of a row to `chosen`, in no order. Faster than [`Selector::select`].
    pub(super) fn choose(&mut self, rule: &Prepared<'_>, row: Row<'_>, chosen: &mut Vec<Chosen>) {
        match row {
            Row::Narrow(row) => self.choose_from(rule, row, chosen),
            Row::Wide(row) => self.choose_from(rule, row, chosen),
        }
    }

    fn choose_from<C: Column>(&mut self, rule: &Prepared<'_>, row: Entries<'_, C>, chosen: &mut Vec<Chosen>) {
        let found = self.find(rule, row);
        if rule.unstored_compete(&found) {
            self.order(rule, row);
            self.add_unstored(rule, row);
            let plain = |rival: &Rival| Chosen { column: rival.column, marginal: rival.marginal };
            chosen.extend(self.rivals.iter().map(plain));
        } else {
            let (columns, values) = (row.columns(), row.values());
            chosen.extend(self.positions.iter().map(|&at| Chosen {
                column: columns[at as usize].index() as u32,
                marginal: values[at as usize],
            }));
        }
    }

    fn rank<C: Column>(&mut self, rule: &Prepared<'_>, row: Entries<'_, C>) {
        let found = self.find(rule, row);
        self.order(rule, row);
        if rule.unstored_compete(&found) {
            self.add_unstored(rule, row);
        }
    }

    /// Makes `rivals` the chosen entries, best first.
    fn order<C: Column>(&mut self, rule: &Prepared<'_>, row: Entries<'_, C>) {
        self.rivals.clear();
        self.rivals.extend(self.positions.iter().map(|&at| {
            let (column, marginal) = (row.columns()[at as usize].index() as u32, row.values()[at as usize]);
            rule.rival(column, marginal)
        }));
        self.rivals.sort_unstable_by(Rival::order);
    }

    /// Lets labels with marginal 0 compete, best intercept first, until none can win.
    fn add_unstored<C: Column>(&mut self, rule: &Prepared<'_>, row: Entries<'_, C>) {
        for &column in &rule.by_intercept {
            let rival = rule.rival(column, 0.0);
            let full = self.rivals.len() == rule.k;
            let stop = match rule.candidates {
                Candidates::All => full && rival.order(&self.rivals[rule.k - 1]) == Ordering::Greater,
                Candidates::Support => full,
            };
            if stop {
                break;
            }
            if row.columns().contains(&C::at(column as usize)) {
                continue;
            }
            if full {
                self.rivals.pop();
            }
            let place = match rule.candidates {
                Candidates::All => self.rivals.partition_point(|other| other.order(&rival) == Ordering::Less),
                // A filler never outranks a stored label.
                Candidates::Support => self.rivals.len(),
            };
            self.rivals.insert(place, rival);
        }
    }

    /// Makes `positions` those of the k best entries, or of all where there are not more.
    fn find<C: Column>(&mut self, rule: &Prepared<'_>, row: Entries<'_, C>) -> Found {
        let Prepared { k, kernel, .. } = *rule;
        let Selector { space, positions, threshold, .. } = self;
        positions.clear();
        if row.len() <= k {
            positions.extend(0..row.len() as u32);
            return Found::Everything;
        }
        let bound = kernel.score(&rule.table, row, k, space);
        let least = if k <= BOUNDED {
            kernel.find(space, row.len(), bound.next_down());
            if space.positions().len() == k {
                // At least k reach the bound, so these do; and the next is a step further down.
                positions.extend_from_slice(space.positions());
                return Found::Best(bound);
            }
            nth_of_few(space, k)
        } else {
            let least = threshold.search(kernel, space, row.len(), k, step(bound));
            kernel.find(space, row.len(), from_step(least - 1));
            least
        };
        self.keep_best(rule, row, least);
        Found::Best(from_step(least - 1))
    }

    /// Makes `positions` the k best of those found. The k-th of their single scores is `least`, or all but
    /// the best k are [`APART`] below it.
    fn keep_best<C: Column>(&mut self, rule: &Prepared<'_>, row: Entries<'_, C>, least: i64) {
        let Selector { space, positions, close, .. } = self;
        let apart = |position: u32| step(space.score(position)) - least;
        let found = space.positions();
        // Written without a branch, because none could be predicted.
        positions.resize(found.len(), 0);
        let mut kept = 0;
        for &position in found {
            positions[kept] = position;
            kept += usize::from(apart(position) > -APART);
        }
        positions.truncate(kept);
        if kept == rule.k {
            return;
        }
        // More than k are that close together: doubles decide between those that are.
        close.clear();
        let (columns, values) = (row.columns(), row.values());
        close.extend(positions.iter().filter(|&&position| apart(position) < APART).map(|&position| {
            let at = position as usize;
            (rule.score(columns[at].index() as u32, values[at]), position)
        }));
        positions.retain(|&position| apart(position) >= APART);
        let missing = rule.k - positions.len();
        // Labels ascend in a row, so the smaller position is the smaller label.
        let falling = |a: &(f64, u32), b: &(f64, u32)| {
            b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1))
        };
        if missing < close.len() {
            close.select_nth_unstable_by(missing, falling);
        }
        positions.extend(close[..missing].iter().map(|&(_, position)| position));
    }
}
