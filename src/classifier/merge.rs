//! Entries of a row against labels that it does not store, decided in single precision.

use super::kernel::{BOUNDED, Scores};
use super::prepared::Prepared;
use super::rule::Candidates;
use super::stored::Stored;
use super::threshold::{APART, step};
use crate::shard::Row;

/// So many of the list are looked for in the row one by one. Where more matter, all entries of the row are looked up
/// in the list.
const LOOKED_FOR: usize = 24;

/// The best k labels of a row.
pub(super) struct Merged {
    /// Numbers of the entries, best first; as many as are `kept` are among them.
    order: [u8; BOUNDED],
    kept: usize,
    /// How much of the list of unstored labels has the others, see [`Stored::free`].
    pub length: usize,
}

impl Merged {
    /// Numbers of the entries that are among the best.
    pub fn kept(&self) -> impl Iterator<Item = usize> {
        self.order[..self.kept].iter().map(|&number| number.into())
    }
}

/// Lets the list of unstored labels replace the worst of the best k entries of a row, one after the other. `None` where
/// single precision cannot decide, or the entries have no single scores.
pub(super) fn merge_singles(rule: &Prepared<'_>, row: Row<'_>, stored: &mut Stored) -> Option<Merged> {
    let k = rule.k;
    if rule.table.scores() == Scores::Bound
        || rule.candidates == Candidates::Support
        || k > BOUNDED
        // Otherwise all entries were chosen without being scored.
        || row.len() <= k
        || stored.entries().len() != k
    {
        return None;
    }
    let mut singles = [f32::NEG_INFINITY; BOUNDED];
    singles.iter_mut().zip(stored.entries()).for_each(|(single, entry)| *single = stored.single(entry));
    let order = falling(&singles, k)?;
    let worst = |kept: usize| step(singles[usize::from(order[kept - 1])]);
    let places = stored.no_places(rule);
    let (mut kept, mut length) = (k, 0);
    for place in 0..rule.unstored.len() {
        if kept == 0 {
            break;
        }
        let one = rule.unstored.get(place);
        let better = step(one.intercept) - worst(kept);
        if better <= -APART {
            break;
        }
        if better < APART {
            return None;
        }
        let in_row = if place < LOOKED_FOR {
            let in_row = rule.kernel.has(&rule.table, row, one.column);
            if in_row {
                places.insert(place);
            }
            in_row
        } else {
            if place == LOOKED_FOR {
                rule.unstored.find_stored(row, places);
            }
            places.contains(place)
        };
        if !in_row {
            (kept, length) = (kept - 1, place + 1);
        }
    }
    // The last one kept and the first one replaced must be in the same order exactly.
    let apart = kept == 0 || kept == k || worst(kept) - worst(kept + 1) >= APART;
    apart.then_some(Merged { order, kept, length })
}

/// The numbers of the first `count` scores, largest first; `None` if two are the same. Without a branch: how many are
/// larger is a place.
fn falling(scores: &[f32; BOUNDED], count: usize) -> Option<[u8; BOUNDED]> {
    let mut order = [0; BOUNDED];
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
        let mut scores = [f32::NEG_INFINITY; BOUNDED];
        scores[..4].copy_from_slice(&[0.5, -1.0, 3.0, 0.25]);
        assert_eq!(falling(&scores, 4).unwrap()[..4], [2, 0, 3, 1]);
        scores[1] = 3.0;
        assert!(falling(&scores, 4).is_none());
    }
}
