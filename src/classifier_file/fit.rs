//! The file of what a fit found.

use super::ClassifierFile;
use crate::checkpoint::Fingerprint;
use crate::measure::{Metric, Population};
use crate::optimize::Fit;

impl Fit {
    /// The classifier, and how it was found. `made_from` is what decided its bits.
    pub fn classifier_file(
        &self,
        metric: &Metric,
        seed: u64,
        population: &Population,
        made_from: &Fingerprint,
    ) -> ClassifierFile {
        let labelled = population.unit == 1;
        ClassifierFile {
            trajectory: self.trajectory.clone(),
            // Expected positives are no counts; propensities cannot be estimated from them.
            positives: if labelled { population.positives.clone() } else { Vec::new() },
            rows: population.rows,
            made_from: Some(made_from.to_text()),
            ..self.mixture.to_file(metric.text(), seed)
        }
    }
}
