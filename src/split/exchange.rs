//! Exchanges of rows between parts that improve the balance of labels.
//!
//! Stratification assigns the rows of rare labels first, without regard to their frequent labels. In label hierarchies, the
//! remaining rows cannot correct that. Exchanges keep the sizes of the parts.

use std::collections::BTreeMap;

use crate::heartbeat::beat;
use crate::sparse::{Csr, RowsView};

/// Maximum number of passes over all rows; four or five are usual.
const MAX_SWEEPS: usize = 10;

/// Rows from one heartbeat to the next.
const ROWS_PER_BEAT: usize = 1 << 16;

/// Smallest gain that is more than rounding error.
const MIN_GAIN: f64 = 1e-9;

/// Exchanges pairs of rows, in the order of `order`, while that lowers the sum over labels and parts of the squared distance to
/// the wanted positives, divided by the square root of the label's positives.
pub(super) fn exchange(labels: &Csr, order: &[u32], sizes: &[u64], parts: &mut [u8]) {
    let mut balance = LabelBalance::new(labels, sizes, parts);
    for _ in 0..MAX_SWEEPS {
        // Rows that a move from one part to another would improve, until one fits the opposite move.
        let mut waiting: BTreeMap<(u8, u8), Vec<u32>> = BTreeMap::new();
        let mut exchanged = false;
        for (at, &row) in order.iter().enumerate() {
            if at.is_multiple_of(ROWS_PER_BEAT) {
                beat();
            }
            let here = balance.parts[row as usize];
            let Some((there, gain)) = balance.best_move(row) else { continue };
            let partners = waiting.entry((there, here)).or_default();
            balance.move_row(row, there);
            let partner = std::iter::from_fn(|| partners.pop()).find(|&other| {
                balance.parts[other as usize] == there && gain + balance.gain(other, here) > MIN_GAIN
            });
            match partner {
                Some(partner) => {
                    balance.move_row(partner, here);
                    exchanged = true;
                }
                None => {
                    balance.move_row(row, here);
                    waiting.entry((here, there)).or_default().push(row);
                }
            }
        }
        if !exchanged {
            break;
        }
    }
}

struct LabelBalance<'b> {
    labels: RowsView<'b>,
    parts: &'b mut [u8],
    count: usize,
    /// Positives of each label in each part minus those wanted there: label by label, part by part.
    excess: Vec<f64>,
    /// Weight of each label's distances.
    weights: Vec<f64>,
}

impl<'b> LabelBalance<'b> {
    fn new(labels: &'b Csr, sizes: &[u64], parts: &'b mut [u8]) -> LabelBalance<'b> {
        let (count, rows) = (sizes.len(), labels.rows() as f64);
        let mut positives = vec![0.0; labels.cols()];
        labels.indices().iter().for_each(|&label| positives[label as usize] += 1.0);
        let wanted = |all: f64| sizes.iter().map(move |&size| -all * size as f64 / rows);
        let excess = positives.iter().flat_map(|&all| wanted(all)).collect();
        let weights = positives.iter().map(|all: &f64| 1.0 / all.max(1.0).sqrt()).collect();
        let mut balance = LabelBalance { labels: labels.into(), parts, count, excess, weights };
        for row in 0..labels.rows() {
            balance.add(row as u32, balance.parts[row], 1.0);
        }
        balance
    }

    fn labels_of(&self, row: u32) -> &'b [u32] {
        self.labels.row(row as usize).0
    }

    fn add(&mut self, row: u32, part: u8, by: f64) {
        for &label in self.labels_of(row) {
            self.excess[label as usize * self.count + usize::from(part)] += by;
        }
    }

    fn move_row(&mut self, row: u32, there: u8) {
        self.add(row, self.parts[row as usize], -1.0);
        self.add(row, there, 1.0);
        self.parts[row as usize] = there;
    }

    /// Returns the decrease of the weighted squares if a row moves to another part.
    fn gain(&self, row: u32, there: u8) -> f64 {
        let (here, there) = (usize::from(self.parts[row as usize]), usize::from(there));
        let of = |&label: &u32| {
            let excess = &self.excess[label as usize * self.count..];
            self.weights[label as usize] * 2.0 * (excess[here] - excess[there] - 1.0)
        };
        self.labels_of(row).iter().map(of).sum()
    }

    /// Returns the part with the largest gain for a row, if there is a gain.
    fn best_move(&self, row: u32) -> Option<(u8, f64)> {
        let here = self.parts[row as usize];
        let others = (0..self.count as u8).filter(|&part| part != here);
        let gains = others.map(|part| (part, self.gain(row, part)));
        gains.filter(|(_, gain)| *gain > MIN_GAIN).fold(None, |best: Option<(u8, f64)>, next| match best {
            Some(best) if best.1 >= next.1 => Some(best),
            _ => Some(next),
        })
    }
}
