//! Exact top-k of a row, zero marginals included (DESIGN, promise 2).

use std::ops::Range;

use super::kernel::{MAX_BOUNDED_K, RowScratch, RowsScratch, ScoreKind, ScoredRow};
use super::merge_zero_labels::merge_in_single_precision;
use super::prepared_rule::{PreparedRule, ScoredLabel};
use super::row_top_k::{RowEntry, RowTopK, TopKOutcome};
use super::rule::Candidates;
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
pub(super) struct ChosenLabels {
    /// Entries, row after row, those of a row in no order.
    pub entries: Vec<ChosenEntry>,
    /// Zero labels of those rows that have any.
    pub zero_labels: Vec<ZeroLabelPrefix>,
    /// Places that rows store, for `zero_labels`: see [`ZeroLabelPrefix::stored_places`].
    pub stored_places: Vec<u32>,
}

/// A chosen entry, before anything is looked up for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChosenEntry {
    pub column: u32,
    /// Its number among the entries of all rows.
    pub entry: usize,
}

/// The zero labels chosen for a row: the beginning of the rule's list of them, less what the row stores.
#[derive(Clone, Debug)]
pub(super) struct ZeroLabelPrefix {
    pub local: usize,
    /// Labels of the list, stored ones included.
    pub length: u32,
    /// Where in [`ChosenLabels::stored_places`] the places of stored ones are, ascending.
    pub stored_places: Range<usize>,
}

impl ChosenLabels {
    pub fn clear(&mut self) {
        self.entries.clear();
        self.zero_labels.clear();
        self.stored_places.clear();
    }
}

/// Reusable space for the picks of rows.
#[derive(Default)]
pub struct Selector {
    /// One for each row that is looked at side by side.
    top_k: Vec<RowTopK>,
    space: RowScratch,
    rows_scratch: RowsScratch,
    scored_labels: Vec<ScoredLabel>,
    picks: Vec<Pick>,
}

/// Rows that are looked at side by side where their look-ups wait for memory, for larger k.
const ROWS_TOGETHER: usize = 16;

impl Selector {
    /// The k best labels of a row, best first.
    pub fn select(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) -> &[Pick] {
        self.reserve_rows(1);
        let Selector { top_k, scored_labels, picks, .. } = self;
        let top_k = &mut top_k[0];
        let outcome = top_k.find_top_k(rule, row);
        let length = include_zero_labels(rule, row, top_k, outcome, scored_labels);
        // A filler never outranks a stored label.
        let kept_apart = if rule.candidates == Candidates::Support { scored_labels.len() } else { 0 };
        scored_labels[..kept_apart].sort_unstable_by(ScoredLabel::best_first);
        if length > 0 {
            let zero_labels_left = top_k.zero_labels_left(rule, row);
            let mut stored_places = zero_labels_left.stored_places.below(length).peekable();
            let zero_labels = (0..length as u32).filter(|place| stored_places.next_if_eq(place).is_none());
            scored_labels.extend(
                zero_labels
                    .map(|place| rule.scored_label(zero_labels_left.list.get(place as usize).column, 0.0)),
            );
        }
        scored_labels[kept_apart..].sort_unstable_by(ScoredLabel::best_first);
        picks.clear();
        let pick = |scored_label: &ScoredLabel| Pick {
            label: scored_label.label,
            score: scored_label.score,
            marginal: scored_label.marginal,
        };
        picks.extend(scored_labels.iter().map(pick));
        picks
    }

    /// Adds the k best labels of each of `rows` to `chosen`. Faster than [`Selector::select`].
    pub(super) fn choose_batch(
        &mut self,
        rule: &PreparedRule<'_>,
        marginals: &Marginals,
        rows: Range<usize>,
        chosen: &mut ChosenLabels,
    ) {
        if rule.table.supports_own_codes(rule.k) {
            return self.choose_own_codes(rule, marginals, rows, chosen);
        }
        if rule.table.supports_shared_codes(rule.k) {
            return self.choose_shared_codes(rule, marginals, rows, chosen);
        }
        let together = match rule.table.score_kind() {
            ScoreKind::Single => 1,
            ScoreKind::Bound => ROWS_TOGETHER,
        };
        self.reserve_rows(together);
        for first in rows.clone().step_by(together) {
            let batch = first..(first + together).min(rows.end);
            let each = || batch.clone().map(|local| marginals.row(local));
            self.top_k.iter_mut().zip(each()).for_each(|(top_k, row)| top_k.score(rule, row));
            if together > 1 {
                self.top_k.iter_mut().zip(each()).for_each(|(top_k, row)| top_k.refine(rule, row));
            }
            for (top_k, local) in self.top_k.iter_mut().zip(batch) {
                let row = marginals.row(local);
                let outcome = top_k.finish(rule, row);
                add_row(rule, row, local, top_k, outcome, &mut self.scored_labels, chosen);
            }
        }
    }

    /// The same where kernels find the best entries of nearly every row.
    fn choose_own_codes(
        &mut self,
        rule: &PreparedRule<'_>,
        marginals: &Marginals,
        rows: Range<usize>,
        chosen: &mut ChosenLabels,
    ) {
        self.reserve_rows(1);
        let Selector { top_k, space, scored_labels, .. } = self;
        let top_k = &mut top_k[0];
        let mut local = rows.start;
        let each = rows.map(|local| marginals.row(local));
        rule.kernel.top_k_own_codes(&rule.table, each, rule.k, space, |row, space, found| {
            match found {
                ScoredRow::Best(least) if !rule.zero_labels_compete(least) => {
                    // Codes are columns here.
                    let (codes, start) = (row.codes(), row.first_entry());
                    let entry = |&at: &u32| ChosenEntry {
                        column: codes[at as usize].into(),
                        entry: start + at as usize,
                    };
                    chosen.entries.extend(space.best(rule.k).iter().map(entry));
                }
                _ => {
                    let outcome = top_k.continue_from_kernel(rule, row, space, found);
                    add_row(rule, row, local, top_k, outcome, scored_labels, chosen);
                }
            }
            local += 1;
        });
    }

    /// The same where columns share codes.
    fn choose_shared_codes(
        &mut self,
        rule: &PreparedRule<'_>,
        marginals: &Marginals,
        rows: Range<usize>,
        chosen: &mut ChosenLabels,
    ) {
        self.reserve_rows(1);
        let Selector { top_k, rows_scratch, scored_labels, .. } = self;
        let top_k = &mut top_k[0];
        let mut local = rows.start;
        let each = rows.map(|local| marginals.row(local));
        rule.kernel.top_k_shared_codes(&rule.table, each, rule.k, rows_scratch, |row, short_list, least| {
            match least {
                Some(least) if !rule.zero_labels_compete(least) => {
                    let start = row.first_entry();
                    let entry = |(at, column)| ChosenEntry { column, entry: start + at as usize };
                    chosen.entries.extend(short_list.best(rule.k).map(entry));
                }
                _ => {
                    let outcome = top_k.find_top_k(rule, row);
                    add_row(rule, row, local, top_k, outcome, scored_labels, chosen);
                }
            }
            local += 1;
        });
    }

    fn reserve_rows(&mut self, rows: usize) {
        if self.top_k.len() < rows {
            self.top_k.resize_with(rows, RowTopK::default);
        }
    }
}

/// Adds the best labels of a row, whose best entries are known.
fn add_row(
    rule: &PreparedRule<'_>,
    row: Row<'_>,
    local: usize,
    top_k: &mut RowTopK,
    outcome: TopKOutcome,
    scored_labels: &mut Vec<ScoredLabel>,
    chosen: &mut ChosenLabels,
) {
    let competed = match outcome {
        TopKOutcome::Entries(least) => rule.zero_labels_compete(least),
        TopKOutcome::Combined { .. } => false,
    };
    let entry =
        |column: u32, position: u32| ChosenEntry { column, entry: row.first_entry() + position as usize };
    let length = if !competed {
        chosen.entries.extend(top_k.entries().iter().map(|one| entry(one.column, one.position)));
        match outcome {
            TopKOutcome::Entries(_) => 0,
            TopKOutcome::Combined { zero_labels } => {
                top_k.zero_labels_left(rule, row).prefix_length(zero_labels)
            }
        }
    } else if let Some(merged) = merge_in_single_precision(rule, row, top_k) {
        let kept = merged.kept().map(|number| top_k.entries()[number]);
        chosen.entries.extend(kept.map(|one| entry(one.column, one.position)));
        merged.length
    } else {
        let length = include_zero_labels(rule, row, top_k, outcome, scored_labels);
        chosen.entries.extend(scored_labels.iter().map(|one| entry(one.column, one.position)));
        length
    };
    if length > 0 {
        let zero_labels_left = top_k.zero_labels_left(rule, row);
        let at = chosen.stored_places.len();
        chosen.stored_places.extend(zero_labels_left.stored_places.below(length));
        let stored_places = at..chosen.stored_places.len();
        chosen.zero_labels.push(ZeroLabelPrefix { local, length: length as u32, stored_places });
    }
}

/// Lets labels with marginal 0 take part. Makes `scored_labels` the entries that stay, in no order; the rest of the k are
/// the beginning of the rule's list of zero labels, less what the row stores. Returns how much of the list.
///
/// With [`Candidates::All`] they compete; otherwise they fill up what is missing.
fn include_zero_labels(
    rule: &PreparedRule<'_>,
    row: Row<'_>,
    top_k: &mut RowTopK,
    outcome: TopKOutcome,
    scored_labels: &mut Vec<ScoredLabel>,
) -> usize {
    scored_labels.clear();
    scored_labels.extend(top_k.entries().iter().map(|&RowEntry { column, position }| ScoredLabel {
        position,
        ..rule.scored_label(column, row.value(position))
    }));
    let least = match outcome {
        TopKOutcome::Combined { zero_labels } => {
            return top_k.zero_labels_left(rule, row).prefix_length(zero_labels);
        }
        TopKOutcome::Entries(least) => least,
    };
    let k = rule.k;
    let missing = k.saturating_sub(scored_labels.len());
    if scored_labels.len() >= k
        && (rule.candidates == Candidates::Support || !rule.zero_labels_compete(least))
    {
        return 0;
    }
    if k <= MAX_BOUNDED_K && rule.candidates == Candidates::All {
        return merge_in_double_precision(rule, row, top_k, scored_labels);
    }
    let zero_labels_left = top_k.zero_labels_left(rule, row);
    let taken = match rule.candidates {
        Candidates::Support => missing,
        Candidates::All => {
            // The first so many are surely among the best k; is the next one?
            let (mut sure, mut not) = (missing, zero_labels_left.len().min(k) + 1);
            while not - sure > 1 {
                let middle = usize::midpoint(sure, not);
                let one = rule.scored_label(zero_labels_left.get(middle - 1).column, 0.0);
                let better =
                    scored_labels.iter().filter(|scored_label| scored_label.best_first(&one).is_lt()).count();
                if better + middle <= k { sure = middle } else { not = middle }
            }
            sure
        }
    };
    let kept = k - taken;
    if kept < scored_labels.len() {
        if kept > 0 {
            scored_labels.select_nth_unstable_by(kept - 1, ScoredLabel::best_first);
        }
        scored_labels.truncate(kept);
    }
    zero_labels_left.prefix_length(taken)
}

/// [`include_zero_labels`] for few labels, of which the list mostly replaces one or two: the worst entry against the best of the
/// list, and so on. Only so much of the list is looked for in the row.
fn merge_in_double_precision(
    rule: &PreparedRule<'_>,
    row: Row<'_>,
    top_k: &mut RowTopK,
    scored_labels: &mut Vec<ScoredLabel>,
) -> usize {
    scored_labels.sort_unstable_by(ScoredLabel::best_first);
    let places = top_k.clear_places(rule);
    let (mut taken, mut length) = (0, 0);
    for place in 0..rule.zero_labels.len() {
        if taken == rule.k {
            break;
        }
        let one = rule.zero_labels.get(place);
        let worst = if scored_labels.len() + taken < rule.k { None } else { scored_labels.last() };
        let loses = |worst: &ScoredLabel| worst.best_first(&rule.scored_label(one.column, 0.0)).is_lt();
        if worst.is_some_and(loses) {
            break;
        }
        if rule.kernel.has_column(&rule.table, row, one.column) {
            places.insert(place);
            continue;
        }
        if worst.is_some() {
            scored_labels.pop();
        }
        (taken, length) = (taken + 1, place + 1);
    }
    length
}
