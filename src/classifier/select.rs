//! Exact top-k of a row, zero marginals included (DESIGN, promise 2).

use std::ops::Range;

use super::kernel::{BOUNDED, Found, Scores, SideBySide, Space};
use super::merge::merge_singles;
use super::prepared::{Prepared, Rival};
use super::rule::Candidates;
use super::stored::{Entry, Outcome, Stored};
use crate::shard::{Marginals, Row};

/// A predicted label.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pick {
    pub label: u32,
    pub score: f64,
    /// The estimated probability; 0 for a label the row does not store.
    pub marginal: f32,
}

/// The best k labels of some rows, as a pass counts them.
#[derive(Default)]
pub(super) struct Chosen {
    /// Entries, row after row, those of a row in no order.
    pub entries: Vec<ChosenEntry>,
    /// Unstored labels of those rows that have any.
    pub fills: Vec<Fill>,
    /// Places that rows store, for the fills: see [`Fill::stored`].
    pub places: Vec<u32>,
}

/// A chosen entry, before anything is looked up for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChosenEntry {
    pub column: u32,
    /// Its number among the entries of all rows.
    pub entry: usize,
}

/// The unstored labels chosen for a row: the beginning of the rule's list of them, less what the row stores.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    pub local: usize,
    /// Labels of the list, stored ones included.
    pub length: u32,
    /// Where in [`Chosen::places`] the places of stored ones are, ascending.
    pub stored: Range<usize>,
}

impl Chosen {
    pub fn clear(&mut self) {
        self.entries.clear();
        self.fills.clear();
        self.places.clear();
    }
}

/// Reusable space for the picks of rows.
#[derive(Default)]
pub struct Selector {
    /// One for each row that is looked at side by side.
    stored: Vec<Stored>,
    space: Space,
    side_by_side: SideBySide,
    rivals: Vec<Rival>,
    picks: Vec<Pick>,
}

/// Rows that are looked at side by side where their look-ups wait for memory, for larger k.
const SIDE_BY_SIDE: usize = 16;

impl Selector {
    /// The k best labels of a row, best first.
    pub fn select(&mut self, rule: &Prepared<'_>, row: Row<'_>) -> &[Pick] {
        self.make_room(1);
        let Selector { stored, rivals, picks, .. } = self;
        let stored = &mut stored[0];
        let outcome = stored.search_row(rule, row);
        let length = compete(rule, row, stored, outcome, rivals);
        // A filler never outranks a stored label.
        let kept_apart = if rule.candidates == Candidates::Support { rivals.len() } else { 0 };
        rivals[..kept_apart].sort_unstable_by(Rival::order);
        if length > 0 {
            let free = stored.free(rule, row);
            let mut stored = free.stored.below(length).peekable();
            let unstored = (0..length as u32).filter(|place| stored.next_if_eq(place).is_none());
            rivals.extend(unstored.map(|place| rule.rival(free.list.get(place as usize).column, 0.0)));
        }
        rivals[kept_apart..].sort_unstable_by(Rival::order);
        picks.clear();
        let pick = |rival: &Rival| Pick { label: rival.label, score: rival.score, marginal: rival.marginal };
        picks.extend(rivals.iter().map(pick));
        picks
    }

    /// Adds the k best labels of each of `rows` to `chosen`. Faster than [`Selector::select`].
    pub(super) fn choose(
        &mut self,
        rule: &Prepared<'_>,
        marginals: &Marginals,
        rows: Range<usize>,
        chosen: &mut Chosen,
    ) {
        if rule.table.tells_best(rule.k) {
            return self.choose_best(rule, marginals, rows, chosen);
        }
        if rule.table.tells_best_of_shared(rule.k) {
            return self.choose_best_of_shared(rule, marginals, rows, chosen);
        }
        let together = match rule.table.scores() {
            Scores::Single => 1,
            Scores::Bound => SIDE_BY_SIDE,
        };
        self.make_room(together);
        for first in rows.clone().step_by(together) {
            let some = first..(first + together).min(rows.end);
            let each = || some.clone().map(|local| marginals.row(local));
            self.stored.iter_mut().zip(each()).for_each(|(stored, row)| stored.score(rule, row));
            if together > 1 {
                self.stored.iter_mut().zip(each()).for_each(|(stored, row)| stored.refine(rule, row));
            }
            for (stored, local) in self.stored.iter_mut().zip(some) {
                let row = marginals.row(local);
                let outcome = stored.choose(rule, row);
                add(rule, row, local, stored, outcome, &mut self.rivals, chosen);
            }
        }
    }

    /// The same where kernels find the best entries of nearly every row.
    fn choose_best(
        &mut self,
        rule: &Prepared<'_>,
        marginals: &Marginals,
        rows: Range<usize>,
        chosen: &mut Chosen,
    ) {
        self.make_room(1);
        let Selector { stored, space, rivals, .. } = self;
        let stored = &mut stored[0];
        let mut local = rows.start;
        let each = rows.map(|local| marginals.row(local));
        rule.kernel.best_of_each(&rule.table, each, rule.k, space, |row, space, found| {
            match found {
                Found::Best(least) if !rule.unstored_compete(least) => {
                    // Codes are columns here.
                    let (codes, start) = (row.codes(), row.start());
                    let entry = |&at: &u32| ChosenEntry {
                        column: codes[at as usize].into(),
                        entry: start + at as usize,
                    };
                    chosen.entries.extend(space.best(rule.k).iter().map(entry));
                }
                _ => {
                    let outcome = stored.go_on(rule, row, space, found);
                    add(rule, row, local, stored, outcome, rivals, chosen);
                }
            }
            local += 1;
        });
    }

    /// The same where columns share codes.
    fn choose_best_of_shared(
        &mut self,
        rule: &Prepared<'_>,
        marginals: &Marginals,
        rows: Range<usize>,
        chosen: &mut Chosen,
    ) {
        self.make_room(1);
        let Selector { stored, side_by_side, rivals, .. } = self;
        let stored = &mut stored[0];
        let mut local = rows.start;
        let each = rows.map(|local| marginals.row(local));
        rule.kernel.best_side_by_side(&rule.table, each, rule.k, side_by_side, |row, few, least| {
            match least {
                Some(least) if !rule.unstored_compete(least) => {
                    let start = row.start();
                    let entry = |(at, column)| ChosenEntry { column, entry: start + at as usize };
                    chosen.entries.extend(few.best(rule.k).map(entry));
                }
                _ => {
                    let outcome = stored.search_row(rule, row);
                    add(rule, row, local, stored, outcome, rivals, chosen);
                }
            }
            local += 1;
        });
    }

    fn make_room(&mut self, rows: usize) {
        if self.stored.len() < rows {
            self.stored.resize_with(rows, Stored::default);
        }
    }
}

/// Adds the best labels of a row, whose best entries are known.
fn add(
    rule: &Prepared<'_>,
    row: Row<'_>,
    local: usize,
    stored: &mut Stored,
    outcome: Outcome,
    rivals: &mut Vec<Rival>,
    chosen: &mut Chosen,
) {
    let competed = match outcome {
        Outcome::Entries(least) => rule.unstored_compete(least),
        Outcome::Shared { .. } => false,
    };
    let entry = |column: u32, position: u32| ChosenEntry { column, entry: row.start() + position as usize };
    let length = if !competed {
        chosen.entries.extend(stored.entries().iter().map(|one| entry(one.column, one.position)));
        match outcome {
            Outcome::Entries(_) => 0,
            Outcome::Shared { unstored } => stored.free(rule, row).length(unstored),
        }
    } else if let Some(merged) = merge_singles(rule, row, stored) {
        let kept = merged.kept().map(|number| stored.entries()[number]);
        chosen.entries.extend(kept.map(|one| entry(one.column, one.position)));
        merged.length
    } else {
        let length = compete(rule, row, stored, outcome, rivals);
        chosen.entries.extend(rivals.iter().map(|one| entry(one.column, one.position)));
        length
    };
    if length > 0 {
        let free = stored.free(rule, row);
        let at = chosen.places.len();
        chosen.places.extend(free.stored.below(length));
        let stored = at..chosen.places.len();
        chosen.fills.push(Fill { local, length: length as u32, stored });
    }
}

/// Lets labels with marginal 0 take part. Makes `rivals` the entries that stay, in no order; the rest of the k are
/// the beginning of the rule's list of unstored labels, less what the row stores. Returns how much of the list.
///
/// With [`Candidates::All`] they compete; otherwise they fill up what is missing.
fn compete(
    rule: &Prepared<'_>,
    row: Row<'_>,
    stored: &mut Stored,
    outcome: Outcome,
    rivals: &mut Vec<Rival>,
) -> usize {
    rivals.clear();
    rivals.extend(
        stored
            .entries()
            .iter()
            .map(|&Entry { column, position }| Rival { position, ..rule.rival(column, row.value(position)) }),
    );
    let least = match outcome {
        Outcome::Shared { unstored } => return stored.free(rule, row).length(unstored),
        Outcome::Entries(least) => least,
    };
    let k = rule.k;
    let missing = k.saturating_sub(rivals.len());
    if rivals.len() >= k && (rule.candidates == Candidates::Support || !rule.unstored_compete(least)) {
        return 0;
    }
    if k <= BOUNDED && rule.candidates == Candidates::All {
        return merge(rule, row, stored, rivals);
    }
    let free = stored.free(rule, row);
    let taken = match rule.candidates {
        Candidates::Support => missing,
        Candidates::All => {
            // The first so many are surely among the best k; is the next one?
            let (mut sure, mut not) = (missing, free.len().min(k) + 1);
            while not - sure > 1 {
                let middle = usize::midpoint(sure, not);
                let one = rule.rival(free.get(middle - 1).column, 0.0);
                let better = rivals.iter().filter(|rival| rival.order(&one).is_lt()).count();
                if better + middle <= k { sure = middle } else { not = middle }
            }
            sure
        }
    };
    let kept = k - taken;
    if kept < rivals.len() {
        if kept > 0 {
            rivals.select_nth_unstable_by(kept - 1, Rival::order);
        }
        rivals.truncate(kept);
    }
    free.length(taken)
}

/// [`compete`] for few labels, of which the list mostly replaces one or two: the worst entry against the best of the
/// list, and so on. Only so much of the list is looked for in the row.
fn merge(rule: &Prepared<'_>, row: Row<'_>, stored: &mut Stored, rivals: &mut Vec<Rival>) -> usize {
    rivals.sort_unstable_by(Rival::order);
    let places = stored.no_places(rule);
    let (mut taken, mut length) = (0, 0);
    for place in 0..rule.unstored.len() {
        if taken == rule.k {
            break;
        }
        let one = rule.unstored.get(place);
        let worst = if rivals.len() + taken < rule.k { None } else { rivals.last() };
        let loses = |worst: &Rival| worst.order(&rule.rival(one.column, 0.0)).is_lt();
        if worst.is_some_and(loses) {
            break;
        }
        if rule.kernel.has(&rule.table, row, one.column) {
            places.insert(place);
            continue;
        }
        if worst.is_some() {
            rivals.pop();
        }
        (taken, length) = (taken + 1, place + 1);
    }
    length
}
