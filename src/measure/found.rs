//! The labels that a step search cannot do without.
//!
//! A label that neither end of a segment ever finds has no true positive anywhere between them. Most metrics
//! are exactly 0 there, and a sum does not change by a 0: such labels need not be evaluated. In data with a
//! long tail they are more than half of all labels.

use std::ops::Range;

use super::blocks::{GROUP, GROUP_BLOCKS, LANES};
use super::confusion::Tensor;
use super::view::{End, View};

/// What a [`Segment`](super::Segment) keeps for each group of labels; memory to be used again by the next one.
#[derive(Default)]
pub struct SegmentSpace(pub(super) Vec<Found>);

/// The cells of those labels of a group that are found at one end at least, side by side.
#[derive(Default)]
pub(super) struct Found {
    positives: Vec<f64>,
    from: Cells,
    to: Cells,
    /// Where the value of a label is added, see [`Sums`].
    pub slots: Vec<u16>,
}

#[derive(Default)]
struct Cells {
    hits: Vec<f64>,
    alarms: Vec<f64>,
}

impl Cells {
    fn select(&mut self, tensor: &Tensor, labels: &[usize]) {
        select(&mut self.hits, &tensor.true_positives, labels);
        select(&mut self.alarms, &tensor.false_positives, labels);
    }

    fn end(&self) -> End<'_> {
        End { hits: &self.hits, alarms: &self.alarms }
    }
}

fn select(out: &mut Vec<f64>, numbers: &[f64], labels: &[usize]) {
    out.clear();
    out.extend(labels.iter().map(|&label| numbers[label]));
}

impl Found {
    /// Becomes those of the group that begins at label `first`. `labels` is scratch space.
    pub(super) fn refill(&mut self, from: &Tensor, to: &Tensor, first: usize, labels: &mut Vec<usize>) {
        let end = from.labels().min(first + GROUP);
        labels.resize(GROUP, 0);
        let mut count = 0;
        let ends = never_found(from, first..end).zip(never_found(to, first..end));
        for (label, (in_from, in_to)) in (first..end).zip(ends) {
            // Written always, kept if found: a branch would be mispredicted for every other label.
            labels[count] = label;
            count += usize::from(!(in_from & in_to));
        }
        let labels = &labels[..count];
        select(&mut self.positives, from.positives(), labels);
        self.from.select(from, labels);
        self.to.select(to, labels);
        self.slots.clear();
        self.slots.extend(labels.iter().map(|label| Sums::slot(label - first) as u16));
    }

    /// The labels at a step of size `alpha`.
    pub(super) fn view(&self, alpha: f64) -> View<'_> {
        View { positives: &self.positives, from: self.from.end(), towards: Some((self.to.end(), alpha)) }
    }
}

/// The largest fraction; that of rounded sums of fractions can be a little above 1.
pub(super) const MOST: f64 = 2.0;

/// No hits, and fractions in the other cells: what is not a number must be seen in the result.
fn never_found(tensor: &Tensor, range: Range<usize>) -> impl Iterator<Item = bool> {
    let fraction = |value: f64| (0.0..=MOST).contains(&value);
    let hits = tensor.true_positives[range.clone()].iter();
    let others = tensor.false_positives[range.clone()].iter().zip(&tensor.positives()[range]);
    hits.zip(others)
        .map(move |(&hits, (&alarms, &positives))| (hits == 0.0) & fraction(alarms) & fraction(positives))
}

/// The sums of a group: one for every lane of every block, as when all labels are evaluated. The blocks are
/// side by side, so that their lanes are summed with vector instructions.
pub(super) struct Sums([[f64; GROUP_BLOCKS]; LANES]);

impl Sums {
    pub(super) const ZERO: Sums = Sums([[0.0; GROUP_BLOCKS]; LANES]);

    /// Where the label with this number within its group is added.
    fn slot(label: usize) -> usize {
        let (chunk, lane) = (label / LANES, label % LANES);
        lane * GROUP_BLOCKS + chunk / (GROUP / GROUP_BLOCKS / LANES)
    }

    #[inline(always)]
    pub(super) fn add(&mut self, slots: &[u16], values: &[f64]) {
        let sums = self.0.as_flattened_mut();
        for (&slot, value) in slots.iter().zip(values) {
            sums[usize::from(slot)] += value;
        }
    }

    /// The total of every block: its lanes, from the first to the last.
    #[inline(always)]
    pub(super) fn totals(&self) -> [f64; GROUP_BLOCKS] {
        let mut totals = [0.0; GROUP_BLOCKS];
        for lane in &self.0 {
            totals.iter_mut().zip(lane).for_each(|(total, sum)| *total += sum);
        }
        totals
    }
}
