//! The search for the best entries of one row.
//!
//! Single precision finds them ([`super::kernel`]). If it cannot tell the k-th from the next, scores are computed in
//! double precision, in which the product of a slope and a marginal is exact.
//!
//! If columns share codes, kernels give bounds instead of scores, and all entries that could be among the best are
//! then scored with coefficients that are in no cache. Several rows therefore take each step together, and each step
//! prefetches what the next one looks up.

use std::cmp::Ordering;

use super::kernel::{
    GatheredEntries, MAX_BOUNDED_K, RowScratch, ScoreKind, ScoredRow, THRESHOLDS, safe_threshold,
};
use super::kth_score::{
    DECISIVE_DISTANCE, KthScoreFinder, MAX_SMALL_K, from_ordinal, kth_largest_small_k, ordinal,
};
use super::merge_zero_labels::merge_zero_labels;
use super::prepared_rule::PreparedRule;
use super::rule::Candidates;
use super::select::Pick;
use super::zero_labels::{Place, StoredPlaces};
use crate::shard::{Column, Position, Row};

/// The state of the search in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    /// The row has at most k entries.
    #[default]
    AllEntries,
    /// More than k entries with large bounds are found, but not necessarily the best ones.
    Sample,
    /// All entries that could be among the best k are found. Their scores or bounds are at least this.
    Superset(f32),
    /// Like `Superset`, but which entries are among the best k labels depends on zero labels.
    Undecided(f32),
    /// This many zero labels are among the best k labels; the others are the best of the entries found.
    Combined { zero_labels: usize },
}

/// A chosen entry of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowEntry {
    pub position: Position,
    pub column: Column,
}

/// A search in one row, with its result and space reused from row to row.
#[derive(Default)]
pub(super) struct RowTopK {
    stage: Stage,
    space: RowScratch,
    gathered: GatheredEntries,
    threshold: KthScoreFinder,
    /// The chosen entries, in no particular order.
    entries: Vec<RowEntry>,
    /// Entries that single precision cannot tell apart: exact score and number.
    near_ties: Vec<(f64, u32)>,
    stored: StoredPlaces,
    ordinals: Vec<i64>,
    scored: Vec<(Pick, RowEntry)>,
}

impl RowTopK {
    /// Runs the whole search. Returns the length of the prefix of zero labels that the row takes; see
    /// [`merge_zero_labels`].
    pub fn find_top_k(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) -> usize {
        self.score(rule, row);
        self.refine(rule, row);
        self.finish(rule, row)
    }

    /// Runs the rest of the search after a kernel has scored the row. Leaves another space in `space`.
    pub fn continue_from_kernel(
        &mut self,
        rule: &PreparedRule<'_>,
        row: Row<'_>,
        space: &mut RowScratch,
        found: ScoredRow,
    ) -> usize {
        self.stored.clear();
        self.entries.clear();
        std::mem::swap(&mut self.space, space);
        self.stage = match found {
            ScoredRow::All => Stage::AllEntries,
            ScoredRow::Superset(least) => Stage::Superset(least),
            ScoredRow::Best(least) => {
                let best = self.space.best(rule.k).iter();
                self.entries.extend(best.map(|&position| in_row(row, position)));
                return self.merge(rule, row, least);
            }
        };
        self.finish(rule, row)
    }

    /// Step 1: computes scores or bounds.
    pub fn score(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) {
        self.stored.clear();
        self.entries.clear();
        self.gathered.clear();
        let (k, kernel) = (rule.k, rule.kernel);
        if row.len() <= k {
            self.stage = Stage::AllEntries;
            return;
        }
        let bound = kernel.score(&rule.table, row, k, &mut self.space);
        self.stage = if k > MAX_BOUNDED_K {
            self.find_for_large_k(rule, row, ordinal(bound))
        } else {
            kernel.find(&mut self.space, row.len(), safe_threshold(bound));
            Stage::Superset(safe_threshold(bound))
        };
        if rule.table.score_kind() == ScoreKind::Bound {
            self.gathered.gather(row, self.space.positions());
            self.gathered.prefetch(&rule.table);
        }
    }

    /// Finds the entries that are better than any k others, or any k zero labels. At least k reach `low`.
    fn find_for_large_k(&mut self, rule: &PreparedRule<'_>, row: Row<'_>, mut low: i64) -> Stage {
        let (k, kernel) = (rule.k, rule.kernel);
        let best_zero_score = rule.best_zero_score();
        if rule.candidates == Candidates::All {
            let reached = kernel.count(&self.space, row.len(), [best_zero_score; THRESHOLDS])[0];
            if reached >= k {
                low = low.max(ordinal(best_zero_score));
            } else if let Some(least) = self.kth_zero_score(rule, row) {
                // No label below the k-th best zero label is chosen.
                return self.combine_with_zero_labels(rule, row, least);
            }
        }
        let single = rule.table.score_kind() == ScoreKind::Single;
        // Some large bounds belong to small scores, so the best k are sought among twice as many.
        let wanted = if single { k } else { (2 * k).min(row.len()) };
        let low = if single { low } else { ordinal(f32::MIN) };
        let least = from_ordinal(self.threshold.find(kernel, &self.space, row.len(), wanted, low) - 1);
        kernel.find(&mut self.space, row.len(), least);
        if single { Stage::Superset(least) } else { Stage::Sample }
    }

    /// Returns the score of the k-th best zero label of the row, if it has as many.
    fn kth_zero_score(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) -> Option<f32> {
        let stored = self.stored.look_up_all(rule, row);
        (stored.unset_count() >= rule.k).then(|| rule.zero_labels.get(stored.nth_unset(rule.k - 1)).intercept)
    }

    /// Finds the largest number of zero labels of which the last has, with better entries counted, fewer than k better
    /// labels. `least` is the score of the k-th zero label.
    fn combine_with_zero_labels(&mut self, rule: &PreparedRule<'_>, row: Row<'_>, least: f32) -> Stage {
        let (k, kernel) = (rule.k, rule.kernel);
        let stored = self.stored.look_up_all(rule, row);
        let space = &mut self.space;
        let score = |number: usize| rule.zero_labels.get(stored.nth_unset(number - 1)).intercept;
        // The first `sure` zero labels are among the best k labels, the first `not` are not.
        let (mut sure, mut not) = (0, k + 1);
        while not - sure > 1 && rule.table.score_kind() == ScoreKind::Single {
            let part =
                |number: usize| sure + ((not - sure) * number).div_ceil(THRESHOLDS + 1).min(not - sure - 1);
            let numbers: [usize; THRESHOLDS] = std::array::from_fn(|at| part(at + 1));
            let reached = kernel.count(space, row.len(), numbers.map(score));
            let (before, beyond) = (sure, not);
            for (number, reached) in numbers.into_iter().zip(reached) {
                if number + reached <= k {
                    sure = sure.max(number);
                } else {
                    not = not.min(number);
                }
            }
            debug_assert!(sure > before || not < beyond, "the interval shrinks in every round");
        }
        // Only exact scores order an entry and a zero label of the same single score.
        let ties = not <= k && {
            let above = kernel.count(space, row.len(), [score(not).next_up(); THRESHOLDS])[0];
            not + above <= k
        };
        if ties || rule.table.score_kind() == ScoreKind::Bound {
            kernel.find(space, row.len(), least);
            return Stage::Undecided(least);
        }
        kernel.find(space, row.len(), if not <= k { score(not) } else { f32::INFINITY });
        Stage::Combined { zero_labels: sure }
    }

    /// Step 2: turns a sample into a superset of the best k entries.
    pub fn refine(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) {
        if self.stage != Stage::Sample {
            return;
        }
        let RowTopK { gathered, ordinals, .. } = self;
        gathered.score(rule.kernel, &rule.table, rule.k);
        gathered.pick(rule.kernel, f32::NEG_INFINITY);
        // A score is at most one step above its bound. To be better exactly, it must be less than two steps below the k-th.
        let singles = gathered.picked().iter().map(|&at| gathered.single_score(at));
        let least = from_ordinal(kth_largest(singles, rule.k, ordinals) - DECISIVE_DISTANCE);
        rule.kernel.find(&mut self.space, row.len(), least);
        self.gathered.gather(row, self.space.positions());
        self.gathered.prefetch(&rule.table);
        self.stage = Stage::Superset(least);
    }

    /// Step 3: chooses the entries. Returns the same as [`RowTopK::find_top_k`].
    pub fn finish(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) -> usize {
        if let Stage::Combined { zero_labels } = self.stage {
            if zero_labels < rule.k {
                self.keep_best(rule, row, rule.k - zero_labels);
            }
            return self.stored.look_up_all(rule, row).prefix_length(zero_labels);
        }
        let least = self.keep_best(rule, row, rule.k);
        self.merge(rule, row, least)
    }

    fn merge(&mut self, rule: &PreparedRule<'_>, row: Row<'_>, least: f32) -> usize {
        let RowTopK { space, entries, stored, scored, .. } = self;
        let single_score = |position: Position| space.score(position.0);
        merge_zero_labels(rule, row, least, entries, single_score, stored, scored)
    }

    /// Makes `entries` the best `k` of those found. Returns a lower bound of their single scores.
    fn keep_best(&mut self, rule: &PreparedRule<'_>, row: Row<'_>, k: usize) -> f32 {
        let RowTopK { stage, space, gathered, entries, near_ties, ordinals, .. } = self;
        let positions = space.positions();
        let least = match *stage {
            Stage::AllEntries => {
                entries.extend((0..row.len() as u32).map(|position| in_row(row, position)));
                return f32::NEG_INFINITY;
            }
            Stage::Superset(least) | Stage::Undecided(least) => least,
            Stage::Sample | Stage::Combined { .. } => f32::NEG_INFINITY,
        };
        if positions.len() <= k || matches!(stage, Stage::Undecided(_)) {
            entries.extend(positions.iter().map(|&position| in_row(row, position)));
            return least;
        }
        if rule.table.score_kind() == ScoreKind::Single {
            let found = positions.iter().map(|&position| (position, space.score(position)));
            let score = |one: RowEntry| rule.score(one.column, row.value(one.position));
            return push_best(
                found,
                k,
                score,
                |position| in_row(row, position),
                near_ties,
                ordinals,
                entries,
            );
        }
        let least = safe_threshold(gathered.score(rule.kernel, &rule.table, k));
        gathered.pick(rule.kernel, least);
        let entry = |at: u32| RowEntry { position: gathered.position(at), column: gathered.column(at) };
        if gathered.picked().len() == k {
            entries.extend(gathered.picked().iter().copied().map(entry));
            return least;
        }
        let found = gathered.picked().iter().map(|&at| (at, gathered.single_score(at)));
        let score = |one: RowEntry| rule.score(one.column, row.value(one.position));
        push_best(found, k, score, entry, near_ties, ordinals, entries)
    }

    /// Returns the chosen entries.
    pub fn entries(&self) -> &[RowEntry] {
        &self.entries
    }

    /// Returns the places that the row stores in the prefix of zero labels it takes, ascending.
    pub fn stored_places(&self, length: usize) -> impl Iterator<Item = Place> + '_ {
        self.stored.below(length)
    }
}

fn in_row(row: Row<'_>, position: u32) -> RowEntry {
    let position = Position(position);
    RowEntry { position, column: row.column(position) }
}

/// Returns the ordinal of the k-th largest score.
fn kth_largest(scores: impl Iterator<Item = f32>, k: usize, ordinals: &mut Vec<i64>) -> i64 {
    if k <= MAX_SMALL_K {
        return kth_largest_small_k(scores.map(ordinal), k);
    }
    ordinals.clear();
    ordinals.extend(scores.map(ordinal));
    // From the other end if that is nearer.
    let behind = ordinals.len() - k;
    if behind < MAX_SMALL_K {
        return -kth_largest_small_k(ordinals.iter().map(|&ordinal| -ordinal), behind + 1);
    }
    *ordinals.select_nth_unstable_by(k - 1, |a, b| b.cmp(a)).1
}

/// Adds the k best of those found, given by ascending number with their single scores. Returns a lower bound of these
/// scores. `near_ties` and `ordinals` are scratch space.
fn push_best(
    found: impl Iterator<Item = (u32, f32)> + Clone,
    k: usize,
    score: impl Fn(RowEntry) -> f64,
    entry: impl Fn(u32) -> RowEntry,
    near_ties: &mut Vec<(f64, u32)>,
    ordinals: &mut Vec<i64>,
    entries: &mut Vec<RowEntry>,
) -> f32 {
    let least = kth_largest(found.clone().map(|one| one.1), k, ordinals);
    near_ties.clear();
    for (at, single) in found {
        let distance = ordinal(single) - least;
        if distance >= DECISIVE_DISTANCE {
            entries.push(entry(at));
        } else if distance > -DECISIVE_DISTANCE {
            near_ties.push((0.0, at));
        }
    }
    let missing = k - entries.len();
    if missing < near_ties.len() {
        near_ties.iter_mut().for_each(|one| one.0 = score(entry(one.1)));
        // The smaller number is the smaller label.
        let falling = |a: &(f64, u32), b: &(f64, u32)| {
            b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1))
        };
        near_ties.select_nth_unstable_by(missing, falling);
    }
    entries.extend(near_ties[..missing].iter().map(|&(_, at)| entry(at)));
    from_ordinal(least - 1)
}
