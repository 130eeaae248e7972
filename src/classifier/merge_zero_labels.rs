//! Entries of a row against labels that it does not store, decided in single precision.

use super::kernel::{MAX_BOUNDED_K, ScoreKind};
use super::kth_score::{DECISIVE_DISTANCE, ordinal};
use super::prepared_rule::PreparedRule;
use super::row_top_k::RowTopK;
use super::rule::Candidates;
use crate::shard::Row;

/// So many of the list are looked for in the row one by one. Where more matter, all entries of the row are looked up
/// in the list.
const MAX_SINGLE_LOOKUPS: usize = 24;

/// The best k labels of a row.
pub(super) struct MergedTopK {
    /// Numbers of the entries, best first; as many as are `kept` are among them.
    order: [u8; MAX_BOUNDED_K],
    kept: usize,
    /// How much of the list of zero labels has the others, see [`RowTopK::zero_labels_left`].
    pub length: usize,
}

impl MergedTopK {
    /// Numbers of the entries that are among the best.
    pub fn kept(&self) -> impl Iterator<Item = usize> {
        self.order[..self.kept].iter().map(|&number| number.into())
    }
}

/// Lets the list of zero labels replace the worst of the best k entries of a row, one after the other. `None` where
/// single precision cannot decide, or the entries have no single scores.
pub(super) fn merge_in_single_precision(
    rule: &PreparedRule<'_>,
    row: Row<'_>,
    top_k: &mut RowTopK,
) -> Option<MergedTopK> {
    let k = rule.k;
    if rule.table.score_kind() == ScoreKind::Bound
        || rule.candidates == Candidates::Support
        || k > MAX_BOUNDED_K
        // Otherwise all entries were chosen without being scored.
        || row.len() <= k
        || top_k.entries().len() != k
    {
        return None;
    }
    let mut singles = [f32::NEG_INFINITY; MAX_BOUNDED_K];
    singles.iter_mut().zip(top_k.entries()).for_each(|(single, entry)| *single = top_k.single_score(entry));
    let order = order_descending(&singles, k)?;
    let worst = |kept: usize| ordinal(singles[usize::from(order[kept - 1])]);
    let places = top_k.clear_places(rule);
    let (mut kept, mut length) = (k, 0);
    for place in 0..rule.zero_labels.len() {
        if kept == 0 {
            break;
        }
        let one = rule.zero_labels.get(place);
        let better = ordinal(one.intercept) - worst(kept);
        if better <= -DECISIVE_DISTANCE {
            break;
        }
        if better < DECISIVE_DISTANCE {
            return None;
        }
        let in_row = if place < MAX_SINGLE_LOOKUPS {
            let in_row = rule.kernel.has_column(&rule.table, row, one.column);
            if in_row {
                places.insert(place);
            }
            in_row
        } else {
            if place == MAX_SINGLE_LOOKUPS {
                rule.zero_labels.find_stored(row, places);
            }
            places.contains(place)
        };
        if !in_row {
            (kept, length) = (kept - 1, place + 1);
        }
    }
    // The last one kept and the first one replaced must be in the same order exactly.
    let apart = kept == 0 || kept == k || worst(kept) - worst(kept + 1) >= DECISIVE_DISTANCE;
    apart.then_some(MergedTopK { order, kept, length })
}

/// The numbers of the first `count` scores, largest first; `None` if two are the same. Without a branch: how many are
/// larger is a place.
fn order_descending(scores: &[f32; MAX_BOUNDED_K], count: usize) -> Option<[u8; MAX_BOUNDED_K]> {
    let mut order = [0; MAX_BOUNDED_K];
    let mut places = 0;
    for (number, score) in (0u8..).zip(&scores[..count]) {
        let larger = scores.iter().fold(0u32, |larger, other| larger + u32::from(other > score)) as usize;
        order[larger] = number;
        places += larger;
    }
    (places == count * (count - 1) / 2).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_fall_and_equal_ones_have_no_order() {
        let mut scores = [f32::NEG_INFINITY; MAX_BOUNDED_K];
        scores[..4].copy_from_slice(&[0.5, -1.0, 3.0, 0.25]);
        assert_eq!(order_descending(&scores, 4).unwrap()[..4], [2, 0, 3, 1]);
        scores[1] = 3.0;
        assert!(order_descending(&scores, 4).is_none());
    }
}
