//! The labels that a step search must evaluate.
//!
//! A label without true positives at both ends of a segment has none in between. Most metrics are exactly 0 there and
//! leave a sum as it is, so such labels are skipped. In long-tailed data they are the majority.

use std::ops::Range;

use super::confusion::ConfusionTensor;
use super::label_blocks::{GROUP_BLOCKS, GROUP_LABELS, LANES};
use super::tensor_view::{CellSlices, TensorView};

/// Reusable memory of a [`Segment`](super::Segment), for each group of labels.
#[derive(Default)]
pub struct SegmentBuffers(pub(super) Vec<ActiveLabels>);

/// The cells of the labels of a group that are active at one end at least, side by side.
///
/// Each value is added to the sum of its lane and block ([`slot_of`]), of which there are hundreds. The labels are in layers:
/// the first label of every slot, then the second of the slots that have one, and so on, slots with most labels first. So a
/// layer is added to consecutive sums, with vector instructions.
#[derive(Default)]
pub(super) struct ActiveLabels {
    positives: Vec<f64>,
    from: CellBuffers,
    to: CellBuffers,
    /// The ends of the layers.
    ends: Vec<usize>,
    /// The slots, in the order of their labels in every layer.
    slots: Vec<u16>,
}

#[derive(Default)]
struct CellBuffers {
    hits: Vec<f64>,
    alarms: Vec<f64>,
}

impl CellBuffers {
    fn select(&mut self, tensor: &ConfusionTensor, labels: &[usize]) {
        select(&mut self.hits, &tensor.true_positives, labels);
        select(&mut self.alarms, &tensor.false_positives, labels);
    }

    fn slices(&self) -> CellSlices<'_> {
        CellSlices { hits: &self.hits, alarms: &self.alarms }
    }
}

fn select(out: &mut Vec<f64>, numbers: &[f64], labels: &[usize]) {
    out.clear();
    out.extend(labels.iter().map(|&label| numbers[label]));
}

impl ActiveLabels {
    /// Refills with the group that begins at label `first`. `labels` is scratch space.
    pub(super) fn refill(
        &mut self,
        from: &ConfusionTensor,
        to: &ConfusionTensor,
        first: usize,
        labels: &mut Vec<usize>,
    ) {
        let end = from.labels().min(first + GROUP_LABELS);
        labels.resize(2 * GROUP_LABELS, 0);
        let (labels, layered) = labels.split_at_mut(GROUP_LABELS);
        let mut count = 0;
        let ends = inactive(from, first..end).zip(inactive(to, first..end));
        for (label, (in_from, in_to)) in (first..end).zip(ends) {
            // Always written, kept if active: a branch would be mispredicted for every other label.
            labels[count] = label;
            count += usize::from(!(in_from & in_to));
        }
        let (labels, layered) = (&labels[..count], &mut layered[..count]);
        self.arrange_in_layers(labels, first, layered);
        select(&mut self.positives, from.positives(), layered);
        self.from.select(from, layered);
        self.to.select(to, layered);
    }

    fn arrange_in_layers(&mut self, labels: &[usize], first: usize, layered: &mut [usize]) {
        let mut of_slot = [0u8; SLOTS];
        labels.iter().for_each(|label| of_slot[slot_of(label - first)] += 1);
        // A layer has all slots with at least that many labels.
        let mut layers = [0usize; MAX_LAYERS + 1];
        of_slot
            .iter()
            .for_each(|&labels| layers[..usize::from(labels)].iter_mut().for_each(|size| *size += 1));
        let mut next = [0usize; MAX_LAYERS + 1];
        next[..MAX_LAYERS].copy_from_slice(&layers[1..]);
        let mut places = [0u16; SLOTS];
        self.slots.clear();
        self.slots.resize(layers[0], 0);
        for (slot, &labels) in of_slot.iter().enumerate().filter(|(_, labels)| **labels > 0) {
            // Behind all slots with more labels.
            let place = &mut next[usize::from(labels) - 1];
            self.slots[*place] = slot as u16;
            places[slot] = *place as u16;
            *place += 1;
        }
        self.ends.clear();
        let mut starts = [0usize; MAX_LAYERS];
        let mut end = 0;
        for (start, &size) in starts.iter_mut().zip(&layers) {
            *start = end;
            end += size;
            self.ends.push(end);
        }
        let mut depth = [0u8; SLOTS];
        for &label in labels {
            let slot = slot_of(label - first);
            layered[starts[usize::from(depth[slot])] + usize::from(places[slot])] = label;
            depth[slot] += 1;
        }
    }

    /// The labels at a step of size `alpha`.
    pub(super) fn view(&self, alpha: f64) -> TensorView<'_> {
        TensorView {
            positives: &self.positives,
            from: self.from.slices(),
            towards: Some((self.to.slices(), alpha)),
        }
    }
}

/// Upper bound of a fraction. Rounding can take a sum of fractions slightly above 1.
pub(super) const MAX_FRACTION: f64 = 2.0;

/// Whether each label has no hits, and fractions in the other cells: a NaN must show in the result.
fn inactive(tensor: &ConfusionTensor, range: Range<usize>) -> impl Iterator<Item = bool> {
    let fraction = |value: f64| (0.0..=MAX_FRACTION).contains(&value);
    let hits = tensor.true_positives[range.clone()].iter();
    let others = tensor.false_positives[range.clone()].iter().zip(&tensor.positives()[range]);
    hits.zip(others)
        .map(move |(&hits, (&alarms, &positives))| (hits == 0.0) & fraction(alarms) & fraction(positives))
}

/// The number of sums of a group: one for every lane of every block, as when all labels are evaluated.
const SLOTS: usize = LANES * GROUP_BLOCKS;

/// The largest number of labels in a sum.
const MAX_LAYERS: usize = GROUP_LABELS / SLOTS;

/// The sum of the label with this number within its group. Blocks are side by side, so that their lanes are summed with vector
/// instructions.
fn slot_of(label: usize) -> usize {
    let (chunk, lane) = (label / LANES, label % LANES);
    lane * GROUP_BLOCKS + chunk / (GROUP_LABELS / GROUP_BLOCKS / LANES)
}

/// The sums of a group, in the order of [`ActiveLabels::slots`].
pub(super) struct SlotSums {
    sums: [f64; SLOTS],
    /// The current layer and its start.
    layer: usize,
    start: usize,
}

impl SlotSums {
    pub(super) const ZERO: SlotSums = SlotSums { sums: [0.0; SLOTS], layer: 0, start: 0 };

    /// Adds the values of the labels from number `first` on.
    #[inline(always)]
    pub(super) fn add(&mut self, active: &ActiveLabels, first: usize, values: &[f64]) {
        let mut left = values;
        while !left.is_empty() {
            let at = first + values.len() - left.len();
            let end = active.ends[self.layer];
            let (now, later) = left.split_at(left.len().min(end - at));
            let sums = &mut self.sums[at - self.start..][..now.len()];
            sums.iter_mut().zip(now).for_each(|(sum, value)| *sum += value);
            if at + now.len() == end {
                (self.layer, self.start) = (self.layer + 1, end);
            }
            left = later;
        }
    }

    /// The total of every block, which adds its lanes from the first to the last.
    #[inline(always)]
    pub(super) fn totals(&self, active: &ActiveLabels) -> [f64; GROUP_BLOCKS] {
        let mut lanes = [[0.0; GROUP_BLOCKS]; LANES];
        let by_slot = lanes.as_flattened_mut();
        for (&slot, &sum) in active.slots.iter().zip(&self.sums) {
            by_slot[usize::from(slot) % SLOTS] = sum;
        }
        let mut totals = [0.0; GROUP_BLOCKS];
        for lane in &lanes {
            totals.iter_mut().zip(lane).for_each(|(total, sum)| *total += sum);
        }
        totals
    }
}
