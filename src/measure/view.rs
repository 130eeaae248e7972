//! The cells of many labels at once, from a tensor or from one on the way between two.

use std::ops::Range;

use super::blocks::LANES;
use super::confusion::{Tensor, blend, cells};

/// A tensor, or one on the way between two.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub from: &'a Tensor,
    /// The other end and how far it is gone.
    pub towards: Option<(&'a Tensor, f64)>,
}

impl View<'_> {
    pub(super) fn labels(&self) -> usize {
        self.from.labels()
    }

    /// Writes the cells of at most [`LANES`] labels, by cell and lane. Lanes beyond the range keep what they
    /// hold, and so does the last column if no true negatives are `wanted`.
    pub(super) fn load(&self, range: Range<usize>, wanted: Wanted, columns: [&mut [f64; LANES]; 4]) {
        let from = self.from;
        let hits = &from.true_positives[range.clone()];
        let alarms = &from.false_positives[range.clone()];
        let positives = &from.positives()[range.clone()];
        match self.towards {
            None => store(positives, wanted, columns, |lane| (hits[lane], alarms[lane])),
            Some((to, alpha)) => {
                let to_hits = &to.true_positives[range.clone()];
                let to_alarms = &to.false_positives[range];
                store(positives, wanted, columns, |lane| {
                    (blend(hits[lane], to_hits[lane], alpha), blend(alarms[lane], to_alarms[lane], alpha))
                });
            }
        }
    }
}

/// Which cells are loaded: most formulas do without the one that costs most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wanted {
    All,
    NoTrueNegatives,
}

/// Cells from the true and false positives of each lane.
#[inline(always)]
fn store(
    positives: &[f64],
    wanted: Wanted,
    columns: [&mut [f64; LANES]; 4],
    stored: impl Fn(usize) -> (f64, f64),
) {
    let [a, b, c, d] = columns.map(|column| &mut column[..positives.len()]);
    match wanted {
        Wanted::All => {
            for (lane, &positives) in positives.iter().enumerate() {
                let (hits, alarms) = stored(lane);
                (a[lane], b[lane], c[lane], d[lane]) = cells(hits, alarms, positives).into();
            }
        }
        Wanted::NoTrueNegatives => {
            for (lane, &positives) in positives.iter().enumerate() {
                let (hits, alarms) = stored(lane);
                (a[lane], b[lane], c[lane], _) = cells(hits, alarms, positives).into();
            }
        }
    }
}
