//! The best entries of one row.
//!
//! Single precision finds them ([`super::kernel`]); where it cannot tell the k-th from the next, scores are taken in
//! double precision, in which the product of a slope and a marginal is exact.
//!
//! Where columns share codes, kernels give bounds instead of scores, and all entries that could be among the best are
//! scored after that. It looks up coefficients that are in no cache. So it is done for several rows side by side, each
//! step for all of them, and the step before asks for what the next one looks up.

use std::cmp::Ordering;

use super::kernel::{BOUNDED, Few, Found, PROBES, Scores, Space, reached};
use super::prepared::Prepared;
use super::rule::Candidates;
use super::threshold::{APART, FEW, Threshold, from_step, nth_of_few, step};
use super::unstored::{Free, Places};
use crate::shard::Row;

/// How the search for the best entries of a row stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    /// There are no more than k entries.
    #[default]
    Everything,
    /// More than k entries of large bounds are found: which are among the best is not known yet.
    Sample,
    /// All that could be among the best k are found; neither their scores nor their bounds are below this.
    Superset(f32),
    /// The same, and unstored labels compete: which entries are among the best k labels depends on those.
    Open(f32),
    /// So many of the unstored are among the best k labels, and the best entries of those found are the others.
    Shared { unstored: usize },
}

/// What became of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    /// Entries are the best k, or, where unstored labels are known to compete, all that could be among the best k
    /// labels. No single score is below this.
    Entries(f32),
    /// Entries are those among the best k labels; the others are the first so many of the list that the row does
    /// not store.
    Shared { unstored: usize },
}

/// A chosen entry of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub position: u32,
    pub column: u32,
}

/// Space for the search of one row, and what it found.
#[derive(Default)]
pub(super) struct Stored {
    stage: Stage,
    space: Space,
    /// What was found.
    few: Few,
    threshold: Threshold,
    /// The entries that are chosen, in no order.
    entries: Vec<Entry>,
    /// Entries that single precision cannot tell apart: exact score, and their number in `few`.
    close: Vec<(f64, u32)>,
    /// Places in the list of unstored labels that the row stores, once they have been asked for.
    places: Places,
    has_places: bool,
    steps: Vec<i64>,
}

impl Stored {
    /// The first step: scores or bounds. Where bounds were found, what the next step looks up is asked for.
    pub fn score(&mut self, rule: &Prepared<'_>, row: Row<'_>) {
        self.has_places = false;
        self.entries.clear();
        self.few.clear();
        let (k, kernel) = (rule.k, rule.kernel);
        if row.len() <= k {
            self.stage = Stage::Everything;
            return;
        }
        let bound = kernel.score(&rule.table, row, k, &mut self.space);
        self.stage = if k > BOUNDED {
            self.search(rule, row, step(bound))
        } else {
            kernel.find(&mut self.space, row.len(), reached(bound));
            Stage::Superset(reached(bound))
        };
        if rule.table.scores() == Scores::Bound {
            self.few.gather(row, self.space.positions());
            self.few.bring(&rule.table);
        }
    }

    /// The whole search.
    pub fn search_row(&mut self, rule: &Prepared<'_>, row: Row<'_>) -> Outcome {
        self.score(rule, row);
        self.refine(rule, row);
        self.choose(rule, row)
    }

    /// The whole search, from what a kernel found. `space` has that, and another space afterwards.
    pub fn go_on(&mut self, rule: &Prepared<'_>, row: Row<'_>, space: &mut Space, found: Found) -> Outcome {
        self.has_places = false;
        self.entries.clear();
        std::mem::swap(&mut self.space, space);
        self.stage = match found {
            Found::All => Stage::Everything,
            Found::Superset(least) => Stage::Superset(least),
            Found::Best(least) => {
                let best = self.space.best(rule.k).iter();
                self.entries.extend(best.map(|&position| Entry { position, column: row.column(position) }));
                return Outcome::Entries(least);
            }
        };
        self.choose(rule, row)
    }

    /// For larger k: entries that are better than any k others, or any k unstored labels. At least k reach `low`.
    fn search(&mut self, rule: &Prepared<'_>, row: Row<'_>, low: i64) -> Stage {
        let (k, kernel) = (rule.k, rule.kernel);
        let best_unstored = rule.best_unstored();
        let mut low = low;
        if rule.candidates == Candidates::All {
            let reached = kernel.count(&self.space, row.len(), [best_unstored; PROBES])[0];
            if reached >= k {
                low = low.max(step(best_unstored));
            } else if let Some(least) = self.kth_unstored(rule, row) {
                // Not all of the k can be stored, and none is below the k-th best of the others.
                return self.share(rule, row, least);
            }
        }
        let single = rule.table.scores() == Scores::Single;
        // Some of the largest bounds are of small scores: the best k are sought among twice as many.
        let wanted = if single { k } else { (2 * k).min(row.len()) };
        let low = if single { low } else { step(f32::MIN) };
        let least = from_step(self.threshold.search(kernel, &self.space, row.len(), wanted, low) - 1);
        kernel.find(&mut self.space, row.len(), least);
        if single { Stage::Superset(least) } else { Stage::Sample }
    }

    /// Finds how many unstored labels are among the best k, when some are: the most of which the last still has fewer
    /// than k better ones, counting better entries. `least` is the score of the k-th.
    fn share(&mut self, rule: &Prepared<'_>, row: Row<'_>, least: f32) -> Stage {
        let (k, kernel) = (rule.k, rule.kernel);
        let Stored { space, places, .. } = self;
        let free = Free { list: &rule.unstored, stored: places };
        let score = |number: usize| free.get(number - 1).intercept;
        // The first so many are surely among the best k labels, so many are not.
        let (mut sure, mut not) = (0, k + 1);
        while not - sure > 1 && rule.table.scores() == Scores::Single {
            let part =
                |number: usize| sure + ((not - sure) * number).div_ceil(PROBES + 1).min(not - sure - 1);
            let numbers: [usize; PROBES] = std::array::from_fn(|at| part(at + 1));
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
            let above = kernel.count(space, row.len(), [score(not).next_up(); PROBES])[0];
            not + above <= k
        };
        if ties || rule.table.scores() == Scores::Bound {
            kernel.find(space, row.len(), least);
            return Stage::Open(least);
        }
        kernel.find(space, row.len(), if not <= k { score(not) } else { f32::INFINITY });
        Stage::Shared { unstored: sure }
    }

    /// The score of the k-th best label that the row does not store, if there are as many.
    fn kth_unstored(&mut self, rule: &Prepared<'_>, row: Row<'_>) -> Option<f32> {
        let free = self.free(rule, row);
        (free.len() >= rule.k).then(|| free.get(rule.k - 1).intercept)
    }

    /// The labels that the row does not store.
    pub fn free<'s>(&'s mut self, rule: &'s Prepared<'_>, row: Row<'_>) -> Free<'s> {
        if !std::mem::replace(&mut self.has_places, true) {
            rule.unstored.find_stored(row, &mut self.places);
        }
        Free { list: &rule.unstored, stored: &self.places }
    }

    /// None of the places that the row stores, to be filled in as far as they matter, in place of [`Stored::free`].
    pub fn no_places(&mut self, rule: &Prepared<'_>) -> &mut Places {
        self.has_places = true;
        self.places.clear(rule.unstored.len());
        &mut self.places
    }

    /// The second step, where it takes one: whatever could be better than the k-th of those found.
    pub fn refine(&mut self, rule: &Prepared<'_>, row: Row<'_>) {
        if self.stage != Stage::Sample {
            return;
        }
        let Stored { few, steps, .. } = self;
        few.score(rule.kernel, &rule.table, rule.k);
        few.pick(rule.kernel, f32::NEG_INFINITY);
        // A score is at most a step above its bound, and must be less than two below the k-th to be better exactly.
        let singles = few.picked().iter().map(|&at| few.single(at));
        let least = from_step(nth(singles, rule.k, steps) - APART);
        rule.kernel.find(&mut self.space, row.len(), least);
        self.few.gather(row, self.space.positions());
        self.few.bring(&rule.table);
        self.stage = Stage::Superset(least);
    }

    /// The last step.
    pub fn choose(&mut self, rule: &Prepared<'_>, row: Row<'_>) -> Outcome {
        match self.stage {
            Stage::Shared { unstored } => {
                self.keep(rule, row, rule.k - unstored);
                Outcome::Shared { unstored }
            }
            _ => Outcome::Entries(self.keep(rule, row, rule.k)),
        }
    }

    /// Makes `entries` the best `k` of those found. Returns a number that no single score of those is below.
    fn keep(&mut self, rule: &Prepared<'_>, row: Row<'_>, k: usize) -> f32 {
        let Stored { stage, space, few, entries, close, steps, .. } = self;
        let kernel = rule.kernel;
        let in_row = |position: u32| Entry { position, column: row.column(position) };
        match *stage {
            Stage::Everything => {
                entries.extend((0..row.len() as u32).map(in_row));
                f32::NEG_INFINITY
            }
            Stage::Open(least) => {
                entries.extend(space.positions().iter().copied().map(in_row));
                least
            }
            Stage::Superset(least) if space.positions().len() <= k => {
                entries.extend(space.positions().iter().copied().map(in_row));
                least
            }
            Stage::Shared { .. } if space.positions().len() <= k || k == 0 => {
                entries.extend(space.positions().iter().take(k).copied().map(in_row));
                f32::NEG_INFINITY
            }
            Stage::Sample | Stage::Superset(_) | Stage::Shared { .. }
                if rule.table.scores() == Scores::Single =>
            {
                let found = space.positions().iter().map(|&position| (position, space.score(position)));
                let least = nth(found.clone().map(|one| one.1), k, steps);
                let score = |position: u32| rule.score(row.column(position), row.value(position));
                keep_best(found, k, least, score, in_row, close, entries);
                from_step(least - 1)
            }
            Stage::Sample | Stage::Superset(_) | Stage::Shared { .. } => {
                let least = reached(few.score(kernel, &rule.table, k));
                few.pick(kernel, least);
                let in_few = |at: u32| Entry { position: few.position(at), column: few.column(at) };
                if few.picked().len() == k {
                    entries.extend(few.picked().iter().copied().map(in_few));
                    return least;
                }
                let found = few.picked().iter().map(|&at| (at, few.single(at)));
                let least = nth(found.clone().map(|one| one.1), k, steps);
                let score = |at: u32| rule.score(few.column(at), few.value(at));
                keep_best(found, k, least, score, in_few, close, entries);
                from_step(least - 1)
            }
        }
    }

    /// The chosen entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The single score of an entry, where scoring gives those ([`Scores::Single`]) and the row has more than k.
    pub fn single(&self, entry: &Entry) -> f32 {
        self.space.score(entry.position)
    }
}

/// The step of the k-th largest score.
fn nth(scores: impl Iterator<Item = f32>, k: usize, steps: &mut Vec<i64>) -> i64 {
    if k <= FEW {
        return nth_of_few(scores.map(step), k);
    }
    steps.clear();
    steps.extend(scores.map(step));
    // From the other end, if that is nearer.
    let behind = steps.len() - k;
    if behind < FEW {
        return -nth_of_few(steps.iter().map(|&step| -step), behind + 1);
    }
    *steps.select_nth_unstable_by(k - 1, |a, b| b.cmp(a)).1
}

/// Adds the k best of those found, in the order of their labels and with their single scores, of which the k-th is
/// `least`. `close` is scratch space.
fn keep_best(
    found: impl Iterator<Item = (u32, f32)>,
    k: usize,
    least: i64,
    score: impl Fn(u32) -> f64,
    entry: impl Fn(u32) -> Entry,
    close: &mut Vec<(f64, u32)>,
    entries: &mut Vec<Entry>,
) {
    close.clear();
    for (at, single) in found {
        let apart = step(single) - least;
        if apart >= APART {
            entries.push(entry(at));
        } else if apart > -APART {
            // So close together that doubles decide.
            close.push((0.0, at));
        }
    }
    let missing = k - entries.len();
    if missing < close.len() {
        close.iter_mut().for_each(|one| one.0 = score(one.1));
        // The smaller number is the smaller label.
        let falling = |a: &(f64, u32), b: &(f64, u32)| {
            b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1))
        };
        close.select_nth_unstable_by(missing, falling);
    }
    entries.extend(close[..missing].iter().map(|&(_, at)| entry(at)));
}
