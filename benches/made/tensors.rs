//! Confusion tensors of long-tailed labels.

use macrok::measure::ConfusionTensor;
use macrok::random::{Purpose, RandomSequence};

/// Two tensors of the same labels: some classifier, and another one to step towards.
pub fn pair(labels: usize) -> (ConfusionTensor, ConfusionTensor) {
    let positives: Vec<f64> = (0..labels).map(|label| 0.1 / (label + 1) as f64).collect();
    let mut random = RandomSequence::new(0, Purpose::SynthRow, 0);
    let mut tensor = || {
        let hits = positives.iter().map(|share| share * random.next_uniform()).collect();
        let misses = positives.iter().map(|share| share * random.next_uniform()).collect();
        ConfusionTensor::from_fractions(hits, misses, positives.clone().into())
    };
    (tensor(), tensor())
}
