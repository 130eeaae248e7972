//! Mixtures as classifier files hold them.

use super::ClassifierFile;
use crate::classifier::{Candidates, Mixture, Rule};

impl Mixture {
    /// What a file holds.
    pub fn from_file(file: &ClassifierFile) -> Mixture {
        let labels = file.labels as usize;
        let rules = file
            .slopes
            .chunks(labels)
            .zip(file.intercepts.chunks(labels))
            .map(|(slopes, intercepts)| {
                Rule { slopes: slopes.to_vec(), intercepts: intercepts.to_vec() }.into()
            })
            .collect();
        let candidates = if file.candidates == "support" { Candidates::Support } else { Candidates::All };
        Mixture { k: file.k as usize, candidates, rules, weights: file.weights.clone() }
    }

    /// The file that holds it; how it was found is for the caller to add.
    pub fn to_file(&self, metric: &str, seed: u64) -> ClassifierFile {
        ClassifierFile {
            k: self.k as u64,
            labels: self.rules[0].labels() as u64,
            slopes: self.rules.iter().flat_map(|rule| rule.slopes.iter().copied()).collect(),
            intercepts: self.rules.iter().flat_map(|rule| rule.intercepts.iter().copied()).collect(),
            weights: self.weights.clone(),
            metric: metric.to_owned(),
            seed,
            candidates: self.candidates.name().to_owned(),
            ..ClassifierFile::default()
        }
    }
}
