//! Iterative stratification (Sechidis, Tsoumakas and Vlahavas, "On the stratification of multi-label data", 2011).

use super::exchange::exchange;
use super::rarest::Rarest;
use crate::heartbeat::beat;
use crate::sparse::Csr;

/// Two wishes that differ by less are the same but for rounding.
const SAME: f64 = 1e-9;

/// Deals rows to parts of exactly the given `sizes`, so that every label's positives are shared out as the rows are.
///
/// Labels are taken by how many rows they have left, the rarest first: for those there is the least choice. Each of
/// their rows, in the order of `order`, goes to the part that lacks most of the label, of equal ones to that which lacks
/// most rows. A part that has all its rows gets no more, which the paper leaves open. At last rows are exchanged between
/// parts while that helps. In time O(rows + labels + parts * entries).
///
/// # Panics
/// If `order` is not a permutation of the rows, or the sizes do not sum to their number.
pub fn stratify(labels: &Csr, order: &[u32], sizes: &[u64]) -> Vec<u8> {
    let rows = labels.rows();
    assert_eq!((order.len(), sizes.iter().sum::<u64>()), (rows, rows as u64), "every row goes somewhere");
    let mut dealer = Dealer::new(labels, sizes);
    let (starts, rows_of) = transposed(labels, order);
    while let Some(label) = dealer.rarest.rarest() {
        beat();
        let range = starts[label as usize]..starts[label as usize + 1];
        for &row in &rows_of[range] {
            if dealer.parts[row as usize] == NOWHERE {
                let part = dealer.best_part(label);
                dealer.deal(row, part);
            }
        }
    }
    // Rows without labels fill up what is left.
    let mut part = 0;
    for &row in order {
        if dealer.parts[row as usize] == NOWHERE {
            while dealer.room[part] == 0 {
                part += 1;
            }
            dealer.deal(row, part);
        }
    }
    let mut parts = dealer.parts;
    exchange(labels, order, sizes, &mut parts);
    parts
}

const NOWHERE: u8 = u8::MAX;

struct Dealer<'l> {
    labels: &'l Csr,
    rarest: Rarest,
    parts: Vec<u8>,
    /// Rows that each part still takes.
    room: Vec<u64>,
    /// Positives of each label that each part still wants: label by label, part by part.
    wanted: Vec<f64>,
}

impl<'l> Dealer<'l> {
    fn new(labels: &'l Csr, sizes: &[u64]) -> Dealer<'l> {
        let mut counts = vec![0u32; labels.cols()];
        labels.indices().iter().for_each(|&label| counts[label as usize] += 1);
        let rows = labels.rows() as f64;
        let wanted = counts
            .iter()
            .flat_map(|&count| sizes.iter().map(move |&size| f64::from(count) * size as f64 / rows));
        let wanted = wanted.collect();
        let parts = vec![NOWHERE; labels.rows()];
        Dealer { labels, wanted, rarest: Rarest::new(counts), parts, room: sizes.to_vec() }
    }

    /// Of the parts that have room, the one that wants the label most.
    fn best_part(&self, label: u32) -> usize {
        let wanted = &self.wanted[label as usize * self.room.len()..][..self.room.len()];
        let mut best: Option<usize> = None;
        for part in (0..self.room.len()).filter(|&part| self.room[part] > 0) {
            let better = best.is_none_or(|best| {
                let more = wanted[part] - wanted[best];
                more > SAME || (more > -SAME && self.room[part] > self.room[best])
            });
            if better {
                best = Some(part);
            }
        }
        best.expect("as much room as rows")
    }

    fn deal(&mut self, row: u32, part: usize) {
        self.parts[row as usize] = part as u8;
        self.room[part] -= 1;
        let indptr = self.labels.indptr();
        let starts = indptr.raw_storage();
        for &label in &self.labels.indices()[starts[row as usize]..starts[row as usize + 1]] {
            self.wanted[label as usize * self.room.len() + part] -= 1.0;
            self.rarest.take(label);
        }
    }
}

/// The rows of each label, in the order of `order`, and where each label's begin.
fn transposed(labels: &Csr, order: &[u32]) -> (Vec<usize>, Vec<u32>) {
    let mut starts = vec![0; labels.cols() + 1];
    labels.indices().iter().for_each(|&label| starts[label as usize + 1] += 1);
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut next = starts.clone();
    let mut rows_of = vec![0; labels.nnz()];
    let indptr = labels.indptr();
    let row_starts = indptr.raw_storage();
    for &row in order {
        for &label in &labels.indices()[row_starts[row as usize]..row_starts[row as usize + 1]] {
            rows_of[next[label as usize]] = row;
            next[label as usize] += 1;
        }
    }
    (starts, rows_of)
}
