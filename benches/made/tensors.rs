//! Confusion tensors of long-tailed labels.

use macrok::measure::Tensor;
use macrok::random::{Purpose, Sequence};

/// Two tensors of the same labels: some classifier, and another one to step towards.
pub fn pair(labels: usize) -> (Tensor, Tensor) {
    let positives: Vec<f64> = (0..labels).map(|label| 0.1 / (label + 1) as f64).collect();
    let mut random = Sequence::new(0, Purpose::SynthRow, 0);
    let mut tensor = || {
        let hits = positives.iter().map(|share| share * random.next_unit()).collect();
        let misses = positives.iter().map(|share| share * random.next_unit()).collect();
        Tensor::from_fractions(hits, misses, positives.clone().into())
    };
    (tensor(), tensor())
}
