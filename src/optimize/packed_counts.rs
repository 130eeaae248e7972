//! The counts of a rule, in few bytes.
//!
//! The rest of a search's state follows from the counts and the steps, so checkpoints keep these. With millions of labels, most
//! of them rarely predicted, packed counts are much smaller than the coefficients of a rule or the tensor.

use rayon::prelude::*;

use crate::checkpoint::SnapshotPart;
use crate::measure::ConfusionCounts;

/// The counts of one rule over all rows, label by label, as variable-length integers.
#[derive(Debug, PartialEq, Eq)]
pub struct PackedCounts {
    pieces: Vec<Vec<u8>>,
}

/// Labels that one thread packs at a time.
const CHUNK_LABELS: usize = 1 << 16;

impl PackedCounts {
    pub fn new(counts: &ConfusionCounts) -> PackedCounts {
        let both =
            counts.predicted.par_chunks(CHUNK_LABELS).zip(counts.true_positives.par_chunks(CHUNK_LABELS));
        PackedCounts { pieces: both.map(|(predicted, hits)| pack(predicted, hits)).collect() }
    }

    pub fn from_bytes(bytes: Vec<u8>) -> PackedCounts {
        PackedCounts { pieces: vec![bytes] }
    }

    /// Returns the counts of `labels` labels; `None` if the bytes are something else.
    pub fn unpack(mut bytes: &[u8], labels: usize) -> Option<ConfusionCounts> {
        let mut counts = ConfusionCounts::new(labels);
        for (predicted, hits) in counts.predicted.iter_mut().zip(&mut counts.true_positives) {
            *predicted = read_varint(&mut bytes)?;
            if *predicted > 0 {
                *hits = read_varint(&mut bytes)?;
            }
        }
        bytes.is_empty().then_some(counts)
    }
}

impl SnapshotPart for PackedCounts {
    fn pieces(&self) -> Vec<&[u8]> {
        self.pieces.iter().map(Vec::as_slice).collect()
    }
}

/// Packs labels. One that is never predicted has no hits, so these are left out.
fn pack(predicted: &[u64], hits: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 * predicted.len());
    for (&predicted, &hits) in predicted.iter().zip(hits) {
        write_varint(&mut bytes, predicted);
        if predicted > 0 {
            write_varint(&mut bytes, hits);
        }
    }
    bytes
}

/// Writes seven bits per byte, the lowest first; the eighth bit means that more follow.
#[inline]
fn write_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        // The last byte may have one bit only.
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(packed: &PackedCounts) -> Vec<u8> {
        packed.pieces().concat()
    }

    #[test]
    fn counts_of_every_size_survive_packing() {
        let numbers = [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), 1 << 62, u64::MAX];
        let labels = 2 * CHUNK_LABELS + 5;
        let predicted: Vec<u64> = (0..labels).map(|label| numbers[label % numbers.len()]).collect();
        let hit = |label: usize| predicted[label].min(numbers[label / 9 % numbers.len()]);
        let counts =
            ConfusionCounts { true_positives: (0..labels).map(hit).collect(), predicted: predicted.clone() };
        let packed = PackedCounts::new(&counts);
        assert_eq!(PackedCounts::unpack(&bytes(&packed), labels), Some(counts));
    }

    #[test]
    fn few_predictions_take_few_bytes() {
        let mut counts = ConfusionCounts::new(1000);
        (counts.predicted[3], counts.true_positives[3]) = (90, 1);
        assert_eq!(bytes(&PackedCounts::new(&counts)).len(), 1001);
    }

    #[test]
    fn refuses_bytes_of_something_else() {
        let counts = ConfusionCounts { true_positives: vec![0, 200, 5], predicted: vec![0, 300, 5] };
        let good = bytes(&PackedCounts::new(&counts));
        assert_eq!(PackedCounts::unpack(&good, 2), None);
        assert_eq!(PackedCounts::unpack(&good, 4), None);
        assert_eq!(PackedCounts::unpack(&good[..good.len() - 1], 3), None);
        assert_eq!(PackedCounts::unpack(&[0xff; 11], 1), None);
        assert_eq!(PackedCounts::unpack(&[&[0xff; 9][..], &[2, 0]].concat(), 1), None, "more than 64 bits");
    }
}
