//! The exact top k of rows, zero labels included.

use std::cmp::Ordering;
use std::ops::Range;

use super::kernel::{RowScratch, RowsScratch, ScoreKind, ScoredRow};
use super::prepared_rule::PreparedRule;
use super::row_top_k::RowTopK;
use super::rule::Candidates;
use super::zero_labels::Place;
use crate::shard::{Column, EntryIndex, LabelId, Marginals, Position, Row};

/// A predicted label.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pick {
    pub label: LabelId,
    pub score: f64,
    /// The estimated probability; 0 for a zero label.
    pub marginal: f32,
}

impl Pick {
    /// Orders by falling score, then by rising label.
    pub(super) fn best_first(&self, other: &Pick) -> Ordering {
        other.score.partial_cmp(&self.score).unwrap_or(Ordering::Equal).then(self.label.cmp(&other.label))
    }
}

/// The best k labels of some rows, for counting.
#[derive(Default)]
pub(super) struct ChosenLabels {
    /// Row after row; in no particular order within a row.
    pub entries: Vec<ChosenEntry>,
    /// One element for each row with zero labels.
    pub zero_labels: Vec<ZeroLabelPrefix>,
    /// See [`ZeroLabelPrefix::stored_places`].
    pub stored_places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ChosenEntry {
    pub column: Column,
    pub entry: EntryIndex,
}

/// The zero labels chosen for a row: a prefix of the rule's list without the labels that the row stores.
#[derive(Clone, Debug)]
pub(super) struct ZeroLabelPrefix {
    pub local: usize,
    /// Length of the prefix, stored labels included.
    pub length: u32,
    /// Range in [`ChosenLabels::stored_places`] of the places in the prefix that the row stores, ascending.
    pub stored_places: Range<usize>,
}

impl ChosenLabels {
    pub fn clear(&mut self) {
        self.entries.clear();
        self.zero_labels.clear();
        self.stored_places.clear();
    }

    #[inline(always)]
    fn add_entries(&mut self, row: Row<'_>, entries: impl Iterator<Item = (Position, Column)>) {
        let entry = |(position, column)| ChosenEntry { column, entry: row.entry(position) };
        self.entries.extend(entries.map(entry));
    }

    /// Adds what `top_k` found in a row, with a prefix of `length` zero labels.
    fn add_row(&mut self, row: Row<'_>, local: usize, top_k: &RowTopK, length: usize) {
        self.add_entries(row, top_k.entries().iter().map(|one| (one.position, one.column)));
        if length > 0 {
            let start = self.stored_places.len();
            self.stored_places.extend(top_k.stored_places(length));
            let stored_places = start..self.stored_places.len();
            self.zero_labels.push(ZeroLabelPrefix { local, length: length as u32, stored_places });
        }
    }
}

/// Selects labels of rows, in space reused from row to row.
#[derive(Default)]
pub(super) struct Selector {
    /// One for each row of a group.
    top_k: Vec<RowTopK>,
    space: RowScratch,
    rows_scratch: RowsScratch,
    picks: Vec<Pick>,
}

/// Rows whose bounds are refined together, so that their look-ups overlap. For k that kernels do not handle.
const ROWS_TOGETHER: usize = 16;

impl Selector {
    /// Returns the k best labels of a row, best first.
    pub fn select(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) -> &[Pick] {
        let (top_k, picks) = (group(&mut self.top_k, 1), &mut self.picks);
        let length = top_k[0].find_top_k(rule, row);
        picks.clear();
        let entries = top_k[0].entries().iter();
        picks.extend(entries.map(|one| rule.pick(one.column, row.value(one.position))));
        // With `Support`, a zero label never outranks a stored one.
        let apart = if rule.candidates == Candidates::Support { picks.len() } else { 0 };
        picks[..apart].sort_unstable_by(Pick::best_first);
        let mut stored = top_k[0].stored_places(length).peekable();
        let places = (0..length as u32).map(Place).filter(|place| stored.next_if_eq(place).is_none());
        picks.extend(places.map(|place| rule.pick(rule.zero_labels.get(place).column, 0.0)));
        picks[apart..].sort_unstable_by(Pick::best_first);
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
        let Selector { top_k, space, rows_scratch, .. } = self;
        let (k, table) = (rule.k, &rule.table);
        let mut local = rows.start;
        let each = rows.clone().map(|local| marginals.row(local));
        if table.supports_own_codes(k) {
            let top_k = &mut group(top_k, 1)[0];
            rule.kernel.top_k_own_codes(table, each, k, space, |row, space, found| {
                match found {
                    ScoredRow::Best(least) if !rule.zero_labels_compete(least) => {
                        // Codes are columns here.
                        let codes = row.codes();
                        let entry = |&at: &u32| (Position(at), Column(codes[at as usize].into()));
                        chosen.add_entries(row, space.best(k).iter().map(entry));
                    }
                    _ => {
                        let length = top_k.continue_from_kernel(rule, row, space, found);
                        chosen.add_row(row, local, top_k, length);
                    }
                }
                local += 1;
            });
        } else if table.supports_shared_codes(k) {
            let top_k = &mut group(top_k, 1)[0];
            rule.kernel.top_k_shared_codes(table, each, k, rows_scratch, |row, short_list, least| {
                match least {
                    Some(least) if !rule.zero_labels_compete(least) => {
                        chosen.add_entries(row, short_list.best(k));
                    }
                    _ => {
                        let length = top_k.find_top_k(rule, row);
                        chosen.add_row(row, local, top_k, length);
                    }
                }
                local += 1;
            });
        } else {
            let together = if table.score_kind() == ScoreKind::Bound { ROWS_TOGETHER } else { 1 };
            let top_k = group(top_k, together);
            for first in rows.clone().step_by(together) {
                let batch = first..(first + together).min(rows.end);
                let each = || batch.clone().map(|local| marginals.row(local));
                top_k.iter_mut().zip(each()).for_each(|(top_k, row)| top_k.score(rule, row));
                top_k.iter_mut().zip(each()).for_each(|(top_k, row)| top_k.refine(rule, row));
                for ((top_k, row), local) in top_k.iter_mut().zip(each()).zip(batch.clone()) {
                    let length = top_k.finish(rule, row);
                    chosen.add_row(row, local, top_k, length);
                }
            }
        }
    }
}

/// Returns at least `rows` searches.
fn group(top_k: &mut Vec<RowTopK>, rows: usize) -> &mut [RowTopK] {
    if top_k.len() < rows {
        top_k.resize_with(rows, RowTopK::default);
    }
    top_k
}
