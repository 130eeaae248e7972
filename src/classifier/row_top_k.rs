//! The best entries of one row.
//!
//! Single precision finds them ([`super::kernel`]); where it cannot tell the k-th from the next, scores are taken in
//! double precision, in which the product of a slope and a marginal is exact.
//!
//! Where columns share codes, kernels give bounds instead of scores, and all entries that could be among the best are
//! scored after that. It looks up coefficients that are in no cache. So it is done for several rows side by side, each
//! step for all of them, and the step before asks for what the next one looks up.

use std::cmp::Ordering;

use super::kernel::{
    GatheredEntries, MAX_BOUNDED_K, RowScratch, ScoreKind, ScoredRow, THRESHOLDS, safe_threshold,
};
use super::kth_score::{
    DECISIVE_DISTANCE, KthScoreFinder, MAX_SMALL_K, from_ordinal, kth_largest_small_k, ordinal,
};
use super::prepared_rule::PreparedRule;
use super::rule::Candidates;
use super::zero_labels::{PlaceSet, RowZeroLabels};
use crate::shard::Row;

/// How the search for the best entries of a row stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    /// There are no more than k entries.
    #[default]
    AllEntries,
    /// More than k entries of large bounds are found: which are among the best is not known yet.
    Sample,
    /// All that could be among the best k are found; neither their scores nor their bounds are below this.
    Superset(f32),
    /// The same, and zero labels compete: which entries are among the best k labels depends on those.
    Undecided(f32),
    /// So many of the unstored are among the best k labels, and the best entries of those found are the others.
    Combined { zero_labels: usize },
}

/// What became of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum TopKOutcome {
    /// Entries are the best k, or, where zero labels are known to compete, all that could be among the best k
    /// labels. No single score is below this.
    Entries(f32),
    /// Entries are those among the best k labels; the others are the first so many of the list that the row does
    /// not store.
    Combined { zero_labels: usize },
}

/// A chosen entry of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowEntry {
    pub position: u32,
    pub column: u32,
}

/// Space for the search of one row, and what it found.
#[derive(Default)]
pub(super) struct RowTopK {
    stage: Stage,
    space: RowScratch,
    /// What was found.
    gathered: GatheredEntries,
    threshold: KthScoreFinder,
    /// The entries that are chosen, in no order.
    entries: Vec<RowEntry>,
    /// Entries that single precision cannot tell apart: exact score, and their number in `gathered`.
    near_ties: Vec<(f64, u32)>,
    /// Places in the list of zero labels that the row stores, once they have been asked for.
    places: PlaceSet,
    places_known: bool,
    ordinals: Vec<i64>,
}

impl RowTopK {
    /// The first step: scores or bounds. Where bounds were found, what the next step looks up is asked for.
    pub fn score(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) {
        self.places_known = false;
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

    /// The whole search.
    pub fn find_top_k(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) -> TopKOutcome {
        self.score(rule, row);
        self.refine(rule, row);
        self.finish(rule, row)
    }

    /// The whole search, from what a kernel found. `space` has that, and another space afterwards.
    pub fn continue_from_kernel(
        &mut self,
        rule: &PreparedRule<'_>,
        row: Row<'_>,
        space: &mut RowScratch,
        found: ScoredRow,
    ) -> TopKOutcome {
        self.places_known = false;
        self.entries.clear();
        std::mem::swap(&mut self.space, space);
        self.stage = match found {
            ScoredRow::All => Stage::AllEntries,
            ScoredRow::Superset(least) => Stage::Superset(least),
            ScoredRow::Best(least) => {
                let best = self.space.best(rule.k).iter();
                self.entries
                    .extend(best.map(|&position| RowEntry { position, column: row.column(position) }));
                return TopKOutcome::Entries(least);
            }
        };
        self.finish(rule, row)
    }

    /// For larger k: entries that are better than any k others, or any k zero labels. At least k reach `low`.
    fn find_for_large_k(&mut self, rule: &PreparedRule<'_>, row: Row<'_>, low: i64) -> Stage {
        let (k, kernel) = (rule.k, rule.kernel);
        let best_zero_score = rule.best_zero_score();
        let mut low = low;
        if rule.candidates == Candidates::All {
            let reached = kernel.count(&self.space, row.len(), [best_zero_score; THRESHOLDS])[0];
            if reached >= k {
                low = low.max(ordinal(best_zero_score));
            } else if let Some(least) = self.kth_zero_score(rule, row) {
                // Not all of the k can be stored, and none is below the k-th best of the others.
                return self.combine_with_zero_labels(rule, row, least);
            }
        }
        let single = rule.table.score_kind() == ScoreKind::Single;
        // Some of the largest bounds are of small scores: the best k are sought among twice as many.
        let wanted = if single { k } else { (2 * k).min(row.len()) };
        let low = if single { low } else { ordinal(f32::MIN) };
        let least = from_ordinal(self.threshold.find(kernel, &self.space, row.len(), wanted, low) - 1);
        kernel.find(&mut self.space, row.len(), least);
        if single { Stage::Superset(least) } else { Stage::Sample }
    }

    /// Finds how many zero labels are among the best k, when some are: the most of which the last still has fewer
    /// than k better ones, counting better entries. `least` is the score of the k-th.
    fn combine_with_zero_labels(&mut self, rule: &PreparedRule<'_>, row: Row<'_>, least: f32) -> Stage {
        let (k, kernel) = (rule.k, rule.kernel);
        let RowTopK { space, places, .. } = self;
        let zero_labels_left = RowZeroLabels { list: &rule.zero_labels, stored_places: places };
        let score = |number: usize| zero_labels_left.get(number - 1).intercept;
        // The first so many are surely among the best k labels, so many are not.
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
            debug_assert!(sure > before || not < beyond, "every round comes closer");
        }
        // An entry of the same single score may be better or worse: then only exact scores can tell.
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

    /// The score of the k-th best label that the row does not store, if there are as many.
    fn kth_zero_score(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) -> Option<f32> {
        let zero_labels_left = self.zero_labels_left(rule, row);
        (zero_labels_left.len() >= rule.k).then(|| zero_labels_left.get(rule.k - 1).intercept)
    }

    /// The labels that the row does not store.
    pub fn zero_labels_left<'s>(&'s mut self, rule: &'s PreparedRule<'_>, row: Row<'_>) -> RowZeroLabels<'s> {
        if !std::mem::replace(&mut self.places_known, true) {
            rule.zero_labels.find_stored(row, &mut self.places);
        }
        RowZeroLabels { list: &rule.zero_labels, stored_places: &self.places }
    }

    /// None of the places that the row stores, to be filled in as far as they matter, in place of [`RowTopK::zero_labels_left`].
    pub fn clear_places(&mut self, rule: &PreparedRule<'_>) -> &mut PlaceSet {
        self.places_known = true;
        self.places.clear(rule.zero_labels.len());
        &mut self.places
    }

    /// The second step, where it takes one: whatever could be better than the k-th of those found.
    pub fn refine(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) {
        if self.stage != Stage::Sample {
            return;
        }
        let RowTopK { gathered, ordinals, .. } = self;
        gathered.score(rule.kernel, &rule.table, rule.k);
        gathered.pick(rule.kernel, f32::NEG_INFINITY);
        // A score is at most a step above its bound, and must be less than two below the k-th to be better exactly.
        let singles = gathered.picked().iter().map(|&at| gathered.single_score(at));
        let least = from_ordinal(kth_largest(singles, rule.k, ordinals) - DECISIVE_DISTANCE);
        rule.kernel.find(&mut self.space, row.len(), least);
        self.gathered.gather(row, self.space.positions());
        self.gathered.prefetch(&rule.table);
        self.stage = Stage::Superset(least);
    }

    /// The last step.
    pub fn finish(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) -> TopKOutcome {
        match self.stage {
            Stage::Combined { zero_labels } => {
                self.keep_best(rule, row, rule.k - zero_labels);
                TopKOutcome::Combined { zero_labels }
            }
            _ => TopKOutcome::Entries(self.keep_best(rule, row, rule.k)),
        }
    }

    /// Makes `entries` the best `k` of those found. Returns a number that no single score of those is below.
    fn keep_best(&mut self, rule: &PreparedRule<'_>, row: Row<'_>, k: usize) -> f32 {
        let RowTopK { stage, space, gathered, entries, near_ties, ordinals, .. } = self;
        let kernel = rule.kernel;
        let in_row = |position: u32| RowEntry { position, column: row.column(position) };
        match *stage {
            Stage::AllEntries => {
                entries.extend((0..row.len() as u32).map(in_row));
                f32::NEG_INFINITY
            }
            Stage::Undecided(least) => {
                entries.extend(space.positions().iter().copied().map(in_row));
                least
            }
            Stage::Superset(least) if space.positions().len() <= k => {
                entries.extend(space.positions().iter().copied().map(in_row));
                least
            }
            Stage::Combined { .. } if space.positions().len() <= k || k == 0 => {
                entries.extend(space.positions().iter().take(k).copied().map(in_row));
                f32::NEG_INFINITY
            }
            Stage::Sample | Stage::Superset(_) | Stage::Combined { .. }
                if rule.table.score_kind() == ScoreKind::Single =>
            {
                let found = space.positions().iter().map(|&position| (position, space.score(position)));
                let least = kth_largest(found.clone().map(|one| one.1), k, ordinals);
                let score = |position: u32| rule.score(row.column(position), row.value(position));
                push_best(found, k, least, score, in_row, near_ties, entries);
                from_ordinal(least - 1)
            }
            Stage::Sample | Stage::Superset(_) | Stage::Combined { .. } => {
                let least = safe_threshold(gathered.score(kernel, &rule.table, k));
                gathered.pick(kernel, least);
                let in_few =
                    |at: u32| RowEntry { position: gathered.position(at), column: gathered.column(at) };
                if gathered.picked().len() == k {
                    entries.extend(gathered.picked().iter().copied().map(in_few));
                    return least;
                }
                let found = gathered.picked().iter().map(|&at| (at, gathered.single_score(at)));
                let least = kth_largest(found.clone().map(|one| one.1), k, ordinals);
                let score = |at: u32| rule.score(gathered.column(at), gathered.value(at));
                push_best(found, k, least, score, in_few, near_ties, entries);
                from_ordinal(least - 1)
            }
        }
    }

    /// The chosen entries.
    pub fn entries(&self) -> &[RowEntry] {
        &self.entries
    }

    /// The single score of an entry, where scoring gives those ([`ScoreKind::Single`]) and the row has more than k.
    pub fn single_score(&self, entry: &RowEntry) -> f32 {
        self.space.score(entry.position)
    }
}

/// The step of the k-th largest score.
fn kth_largest(scores: impl Iterator<Item = f32>, k: usize, ordinals: &mut Vec<i64>) -> i64 {
    if k <= MAX_SMALL_K {
        return kth_largest_small_k(scores.map(ordinal), k);
    }
    ordinals.clear();
    ordinals.extend(scores.map(ordinal));
    // From the other end, if that is nearer.
    let behind = ordinals.len() - k;
    if behind < MAX_SMALL_K {
        return -kth_largest_small_k(ordinals.iter().map(|&ordinal| -ordinal), behind + 1);
    }
    *ordinals.select_nth_unstable_by(k - 1, |a, b| b.cmp(a)).1
}

/// Adds the k best of those found, in the order of their labels and with their single scores, of which the k-th is
/// `least`. `near_ties` is scratch space.
fn push_best(
    found: impl Iterator<Item = (u32, f32)>,
    k: usize,
    least: i64,
    score: impl Fn(u32) -> f64,
    entry: impl Fn(u32) -> RowEntry,
    near_ties: &mut Vec<(f64, u32)>,
    entries: &mut Vec<RowEntry>,
) {
    near_ties.clear();
    for (at, single) in found {
        let apart = ordinal(single) - least;
        if apart >= DECISIVE_DISTANCE {
            entries.push(entry(at));
        } else if apart > -DECISIVE_DISTANCE {
            // So close together that doubles decide.
            near_ties.push((0.0, at));
        }
    }
    let missing = k - entries.len();
    if missing < near_ties.len() {
        near_ties.iter_mut().for_each(|one| one.0 = score(one.1));
        // The smaller number is the smaller label.
        let falling = |a: &(f64, u32), b: &(f64, u32)| {
            b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1))
        };
        near_ties.select_nth_unstable_by(missing, falling);
    }
    entries.extend(near_ties[..missing].iter().map(|&(_, at)| entry(at)));
}
