//! Exact top-k of one row, zero marginals included (DESIGN, promise 2).
//!
//! Single precision finds the best entries ([`super::kernel`]); where it cannot tell the k-th from the
//! next, and for everything that is ordered, scores are taken in double precision, in which the product
//! of a slope and a marginal is exact.

use std::cmp::Ordering;
use std::ops::Range;

use super::kernel::{BOUNDED, Space};
use super::prepared::{Prepared, Rival};
use super::rule::Candidates;
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
    /// Its place among the entries of the row, or [`UNSTORED`].
    pub position: u32,
}

/// The position of a label that the row does not store.
pub(super) const UNSTORED: u32 = u32::MAX;

/// What single precision found.
pub(super) enum Found {
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
    marks: Marks,
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

    /// Adds the k best labels of each of `rows` to `chosen`, those of a row in no order. Faster than
    /// [`Selector::select`].
    pub(super) fn choose(
        &mut self,
        rule: &Prepared<'_>,
        marginals: &Marginals,
        rows: Range<usize>,
        chosen: &mut Vec<Chosen>,
    ) {
        for local in rows {
            match marginals.row(local) {
                Row::Narrow(row) => self.choose_from(rule, row, chosen),
                Row::Wide(row) => self.choose_from(rule, row, chosen),
            }
        }
    }

    fn choose_from<C: Column>(&mut self, rule: &Prepared<'_>, row: Entries<'_, C>, chosen: &mut Vec<Chosen>) {
        let found = self.find(rule, row);
        if rule.unstored_compete(&found) {
            self.collect(rule, row);
            self.add_unstored(rule, row, &found);
            let plain = |rival: &Rival| Chosen { column: rival.column, position: rival.position };
            chosen.extend(self.rivals.iter().map(plain));
        } else {
            let columns = row.columns();
            chosen.extend(
                self.positions
                    .iter()
                    .map(|&position| Chosen { column: columns[position as usize].index() as u32, position }),
            );
        }
    }

    /// Makes `rivals` the k best, best first.
    fn rank<C: Column>(&mut self, rule: &Prepared<'_>, row: Entries<'_, C>) {
        let found = self.find(rule, row);
        self.collect(rule, row);
        if rule.unstored_compete(&found) && rule.candidates == Candidates::All {
            self.add_unstored(rule, row, &found);
        }
        self.rivals.sort_unstable_by(Rival::order);
        if rule.candidates == Candidates::Support {
            // A filler never outranks a stored label.
            self.add_unstored(rule, row, &found);
        }
    }

    /// Makes `rivals` the chosen entries, in no order.
    fn collect<C: Column>(&mut self, rule: &Prepared<'_>, row: Entries<'_, C>) {
        self.rivals.clear();
        self.rivals.extend(self.positions.iter().map(|&at| {
            let (column, marginal) = (row.columns()[at as usize].index() as u32, row.values()[at as usize]);
            rule.rival(column, marginal, at)
        }));
    }

    /// Lets labels with marginal 0 take part. With [`Candidates::All`] they compete, and the k best of all
    /// stay, in no order; otherwise they fill up what is missing, best intercept first.
    fn add_unstored<C: Column>(&mut self, rule: &Prepared<'_>, row: Entries<'_, C>, found: &Found) {
        let k = rule.k;
        // More than that cannot be needed, and none that is below the least of k others.
        let (wanted, least) = match (rule.candidates, found) {
            (Candidates::Support, _) => (k - self.rivals.len(), f32::NEG_INFINITY),
            (Candidates::All, Found::Everything) => (k, f32::NEG_INFINITY),
            (Candidates::All, Found::Best(least)) => (k, *least),
        };
        if wanted == 0 {
            return;
        }
        let many = k > BOUNDED;
        if many {
            self.marks.set(row, rule.table.columns());
        }
        let mut added = 0;
        for &column in &rule.by_intercept {
            if added == wanted || rule.table.pair(column as usize).1 < least {
                break;
            }
            let stored = if many {
                self.marks.has(column as usize)
            } else {
                row.columns().contains(&C::at(column as usize))
            };
            if !stored {
                self.rivals.push(rule.rival(column, 0.0, UNSTORED));
                added += 1;
            }
        }
        if many {
            self.marks.clear(row);
        }
        if self.rivals.len() > k {
            self.rivals.select_nth_unstable_by(k - 1, Rival::order);
            self.rivals.truncate(k);
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
        let rough = if rule.table.is_rounded() && k <= BOUNDED {
            kernel.bound(&rule.table, row, k, space)
        } else {
            None
        };
        let bound = rough.unwrap_or_else(|| kernel.score(&rule.table, row, k, space));
        let least = if k <= BOUNDED {
            // All that exact scores could bring to the k-th place.
            kernel.find(space, row.len(), bound.next_down());
            if space.positions().len() == k {
                // At least k reach the bound, so these do; and the next is a step further down.
                positions.extend_from_slice(space.positions());
                return Found::Best(bound);
            }
            if rough.is_some() {
                space.refine(&rule.table, row);
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

/// The columns of a row, to ask for many of them: one bit each.
#[derive(Default)]
struct Marks {
    words: Vec<u64>,
}

impl Marks {
    fn set<C: Column>(&mut self, row: Entries<'_, C>, columns: usize) {
        self.words.resize(columns.div_ceil(64), 0);
        for column in row.columns() {
            self.words[column.index() / 64] |= 1 << (column.index() % 64);
        }
    }

    fn has(&self, column: usize) -> bool {
        self.words[column / 64] >> (column % 64) & 1 == 1
    }

    /// Takes back what [`Marks::set`] did with the same row.
    fn clear<C: Column>(&mut self, row: Entries<'_, C>) {
        row.columns().iter().for_each(|column| self.words[column.index() / 64] = 0);
    }
}
