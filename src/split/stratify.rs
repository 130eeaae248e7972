//! Iterative stratification (Sechidis, Tsoumakas and Vlahavas, "On the stratification of multi-label data", 2011).

use super::exchange::exchange;
use super::label_buckets::LabelBuckets;
use crate::heartbeat::beat;
use crate::sparse::{Csr, RowsView, rows_by_column};

/// Largest difference between equal numbers of wanted positives, by rounding.
const TOLERANCE: f64 = 1e-9;

/// Assigns rows to parts of exactly the given `sizes`, with every label's positives in about the same proportions.
///
/// The label with the fewest unassigned rows comes first, because it leaves the least choice. Each of its rows, in the order
/// of `order`, goes to the part that lacks most positives of the label or, of equal parts, most rows. Full parts get no more
/// rows, which the publication leaves open. Finally, rows are exchanged between parts while that helps. Takes time
/// O(rows + labels + parts * entries).
///
/// # Panics
/// If `order` is not a permutation of the rows, or the sizes do not sum to their number.
pub fn stratify(labels: &Csr, order: &[u32], sizes: &[u64]) -> Vec<u8> {
    let rows = labels.rows();
    assert_eq!((order.len(), sizes.iter().sum::<u64>()), (rows, rows as u64), "every row goes somewhere");
    let mut assigner = Assigner::new(labels, sizes);
    let (starts, rows_of) = rows_by_column(labels.into(), labels.cols(), order.iter().copied());
    while let Some(label) = assigner.buckets.rarest() {
        beat();
        let range = starts[label as usize]..starts[label as usize + 1];
        for &row in &rows_of[range] {
            if assigner.parts[row as usize] == UNASSIGNED {
                let part = assigner.best_part(label);
                assigner.assign_row(row, part);
            }
        }
    }
    // Rows without labels fill the parts.
    let mut part = 0;
    for &row in order {
        if assigner.parts[row as usize] == UNASSIGNED {
            while assigner.rows_left[part] == 0 {
                part += 1;
            }
            assigner.assign_row(row, part);
        }
    }
    let mut parts = assigner.parts;
    exchange(labels, order, sizes, &mut parts);
    parts
}

const UNASSIGNED: u8 = u8::MAX;

struct Assigner<'l> {
    labels: &'l Csr,
    buckets: LabelBuckets,
    parts: Vec<u8>,
    /// Rows that each part still lacks.
    rows_left: Vec<u64>,
    /// Positives of each label that each part still lacks: label by label, part by part.
    wanted: Vec<f64>,
}

impl<'l> Assigner<'l> {
    fn new(labels: &'l Csr, sizes: &[u64]) -> Assigner<'l> {
        let mut counts = vec![0u32; labels.cols()];
        labels.indices().iter().for_each(|&label| counts[label as usize] += 1);
        let rows = labels.rows() as f64;
        let wanted = counts
            .iter()
            .flat_map(|&count| sizes.iter().map(move |&size| f64::from(count) * size as f64 / rows));
        let wanted = wanted.collect();
        let parts = vec![UNASSIGNED; labels.rows()];
        Assigner { labels, wanted, buckets: LabelBuckets::new(counts), parts, rows_left: sizes.to_vec() }
    }

    /// Returns the part, among those that are not full, that lacks most positives of the label.
    fn best_part(&self, label: u32) -> usize {
        let wanted = &self.wanted[label as usize * self.rows_left.len()..][..self.rows_left.len()];
        let mut best: Option<usize> = None;
        for part in (0..self.rows_left.len()).filter(|&part| self.rows_left[part] > 0) {
            let better = best.is_none_or(|best| {
                let more = wanted[part] - wanted[best];
                more > TOLERANCE || (more > -TOLERANCE && self.rows_left[part] > self.rows_left[best])
            });
            if better {
                best = Some(part);
            }
        }
        best.expect("the sizes sum to the number of rows")
    }

    fn assign_row(&mut self, row: u32, part: usize) {
        self.parts[row as usize] = part as u8;
        self.rows_left[part] -= 1;
        for &label in RowsView::from(self.labels).row(row as usize).0 {
            self.wanted[label as usize * self.rows_left.len() + part] -= 1.0;
            self.buckets.remove_row(label);
        }
    }
}
