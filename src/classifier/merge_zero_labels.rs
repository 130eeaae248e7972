//! The merge of a row's best entries with its zero labels.

use super::kernel::{MAX_BOUNDED_K, ScoreKind};
use super::kth_score::{DECISIVE_DISTANCE, ordinal};
use super::prepared_rule::PreparedRule;
use super::row_top_k::RowEntry;
use super::rule::Candidates;
use super::select::Pick;
use super::zero_labels::{Place, PlaceSet, StoredPlaces, ZeroLabel};
use crate::shard::{Position, Row};

/// Lets zero labels replace the worst of `entries` and fill up missing ones. On entry these are the best k entries, or all
/// that could be among the best k labels; `least` is a lower bound of their single scores. On return they are those among
/// the best k labels, in no particular order. The rest is a prefix of the rule's zero labels, of which the row skips
/// those it stores; returns the length of this prefix.
///
/// `single_score` is defined if scoring gives single scores and the row has more than k entries.
pub(super) fn merge_zero_labels(
    rule: &PreparedRule<'_>,
    row: Row<'_>,
    least: f32,
    entries: &mut Vec<RowEntry>,
    single_score: impl Fn(Position) -> f32,
    stored: &mut StoredPlaces,
    scored: &mut Vec<(Pick, RowEntry)>,
) -> usize {
    let full = entries.len() >= rule.k;
    if full && (rule.candidates == Candidates::Support || !rule.zero_labels_compete(least)) {
        return 0;
    }
    merge_in_single_precision(rule, row, entries, single_score, stored)
        .unwrap_or_else(|| merge_in_double_precision(rule, row, entries, stored, scored))
}

/// Accepts zero labels, best first, while one `wins`, given the number of those taken before. Returns how many were taken
/// and the length of the prefix of the list that has them; `None` if `wins` cannot tell.
fn take_zero_labels(
    rule: &PreparedRule<'_>,
    row: Row<'_>,
    stored: &mut StoredPlaces,
    wins: impl Fn(usize, ZeroLabel) -> Option<bool>,
) -> Option<(usize, usize)> {
    let (mut taken, mut length) = (0, 0);
    for place in (0..rule.zero_labels.len() as u32).map(Place) {
        if taken == rule.k || !wins(taken, rule.zero_labels.get(place))? {
            break;
        }
        if !stored.contains(rule, row, place) {
            (taken, length) = (taken + 1, place.0 as usize + 1);
        }
    }
    Some((taken, length))
}

/// Merges by single scores. `None` if there are none, or they cannot decide.
fn merge_in_single_precision(
    rule: &PreparedRule<'_>,
    row: Row<'_>,
    entries: &mut Vec<RowEntry>,
    single_score: impl Fn(Position) -> f32,
    stored: &mut StoredPlaces,
) -> Option<usize> {
    let k = rule.k;
    if rule.table.score_kind() == ScoreKind::Bound
        || rule.candidates == Candidates::Support
        || k > MAX_BOUNDED_K
        || row.len() <= k
        || entries.len() != k
    {
        return None;
    }
    let mut singles = [f32::NEG_INFINITY; MAX_BOUNDED_K];
    singles.iter_mut().zip(&*entries).for_each(|(single, entry)| *single = single_score(entry.position));
    let order = order_descending(&singles, k)?;
    let worst = |kept: usize| ordinal(singles[usize::from(order[kept - 1])]);
    let (taken, length) = take_zero_labels(rule, row, stored, |taken, one| {
        let better = ordinal(one.intercept) - worst(k - taken);
        (better.abs() >= DECISIVE_DISTANCE).then_some(better > 0)
    })?;
    let kept = k - taken;
    // Single scores must also tell the last entry kept from the first one replaced.
    if kept > 0 && kept < k && worst(kept) - worst(kept + 1) < DECISIVE_DISTANCE {
        return None;
    }
    let mut all = [RowEntry::default(); MAX_BOUNDED_K];
    all[..k].copy_from_slice(entries);
    entries.clear();
    entries.extend(order[..kept].iter().map(|&number| all[usize::from(number)]));
    Some(length)
}

/// Returns the numbers of the first `count` scores, largest first; `None` if two are equal. Without a branch on the
/// scores: the place of a score is the number of larger ones.
fn order_descending(scores: &[f32; MAX_BOUNDED_K], count: usize) -> Option<[u8; MAX_BOUNDED_K]> {
    let mut order = [0; MAX_BOUNDED_K];
    let mut sum = 0;
    for (number, score) in (0u8..).zip(&scores[..count]) {
        let larger = scores.iter().fold(0u32, |larger, other| larger + u32::from(other > score)) as usize;
        order[larger] = number;
        sum += larger;
    }
    (sum == count * (count - 1) / 2).then_some(order)
}

fn merge_in_double_precision(
    rule: &PreparedRule<'_>,
    row: Row<'_>,
    entries: &mut Vec<RowEntry>,
    stored: &mut StoredPlaces,
    scored: &mut Vec<(Pick, RowEntry)>,
) -> usize {
    let k = rule.k;
    scored.clear();
    scored.extend(entries.iter().map(|&entry| (rule.pick(entry.column, row.value(entry.position)), entry)));
    let kept = |taken: usize| entries.len().min(k - taken);
    let (taken, length) = if k > MAX_BOUNDED_K && rule.candidates == Candidates::All {
        // Counting the better entries of some zero labels is faster than sorting many entries.
        let stored = stored.look_up_all(rule, row);
        let taken = zero_labels_among_best(rule, scored, stored);
        if kept(taken) < scored.len() {
            scored.select_nth_unstable_by(kept(taken), |a, b| a.0.best_first(&b.0));
        }
        (taken, stored.prefix_length(taken))
    } else {
        scored.sort_unstable_by(|a, b| a.0.best_first(&b.0));
        let wins = |taken: usize, one: ZeroLabel| {
            let missing = kept(taken) + taken < k;
            let worst = || scored[kept(taken) - 1].0.best_first(&rule.pick(one.column, 0.0));
            missing || (rule.candidates == Candidates::All && worst().is_ge())
        };
        take_zero_labels(rule, row, stored, |taken, one| Some(wins(taken, one))).unwrap_or_default()
    };
    scored.truncate(kept(taken));
    entries.clear();
    entries.extend(scored.iter().map(|one| one.1));
    length
}

/// Returns how many zero labels, of those that the row does not store, are among the best k labels.
fn zero_labels_among_best(rule: &PreparedRule<'_>, scored: &[(Pick, RowEntry)], stored: &PlaceSet) -> usize {
    let better = |place: Place| {
        let zero = rule.pick(rule.zero_labels.get(place).column, 0.0);
        let counts =
            |one: &Pick| one.score > zero.score || (one.score == zero.score) & (one.label < zero.label);
        scored.iter().filter(|one| counts(&one.0)).count()
    };
    let (mut among, mut beyond) = (0, rule.k.min(stored.unset_count()) + 1);
    while beyond - among > 1 {
        let number = among.midpoint(beyond);
        if number + better(stored.nth_unset(number - 1)) <= rule.k {
            among = number;
        } else {
            beyond = number;
        }
    }
    among
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_ordered_and_equal_ones_have_no_order() {
        let mut scores = [f32::NEG_INFINITY; MAX_BOUNDED_K];
        scores[..4].copy_from_slice(&[0.5, -1.0, 3.0, 0.25]);
        assert_eq!(order_descending(&scores, 4).unwrap()[..4], [2, 0, 3, 1]);
        scores[1] = 3.0;
        assert!(order_descending(&scores, 4).is_none());
    }
}
