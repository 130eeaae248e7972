//! Classifiers between memory, files and ranks.

use crate::classifier::{Candidates, Mixture, Rule};
use crate::store::ClassifierFile;
use crate::world::World;

/// Rank 0's mixture on every rank. Collective.
pub(super) fn share(world: &World, mixture: Option<Mixture>) -> Mixture {
    let mut shape = mixture.as_ref().map_or(Vec::new(), |mixture| {
        let support = u64::from(mixture.candidates == Candidates::Support);
        vec![mixture.k as u64, support, mixture.rules[0].labels() as u64]
    });
    world.broadcast(&mut shape);
    let all = |part: fn(&Rule) -> &Vec<f32>| -> Vec<f32> {
        let rules = mixture.as_ref().map_or(&[][..], |mixture| &mixture.rules);
        let mut values: Vec<f32> = rules.iter().flat_map(|rule| part(rule).iter().copied()).collect();
        world.broadcast(&mut values);
        values
    };
    let (slopes, intercepts) = (all(|rule| &rule.slopes), all(|rule| &rule.intercepts));
    let mut weights = mixture.map_or(Vec::new(), |mixture| mixture.weights);
    world.broadcast(&mut weights);
    let labels = shape[2] as usize;
    let rules = slopes.chunks(labels).zip(intercepts.chunks(labels));
    let rules =
        rules.map(|(slopes, intercepts)| Rule { slopes: slopes.into(), intercepts: intercepts.into() });
    let candidates = if shape[1] == 1 { Candidates::Support } else { Candidates::All };
    Mixture { k: shape[0] as usize, candidates, rules: rules.collect(), weights }
}

/// A mixture as a file holds it.
pub(super) fn to_mixture(file: &ClassifierFile) -> Mixture {
    let labels = file.labels as usize;
    let rules = file
        .slopes
        .chunks(labels)
        .zip(file.intercepts.chunks(labels))
        .map(|(slopes, intercepts)| Rule { slopes: slopes.to_vec(), intercepts: intercepts.to_vec() })
        .collect();
    let candidates = if file.candidates == "support" { Candidates::Support } else { Candidates::All };
    Mixture { k: file.k as usize, candidates, rules, weights: file.weights.clone() }
}

/// The file that holds a mixture; how it was found is for the caller to add.
pub(super) fn to_file(mixture: &Mixture, metric: &str, seed: u64) -> ClassifierFile {
    ClassifierFile {
        k: mixture.k as u64,
        labels: mixture.rules[0].labels() as u64,
        slopes: mixture.rules.iter().flat_map(|rule| rule.slopes.iter().copied()).collect(),
        intercepts: mixture.rules.iter().flat_map(|rule| rule.intercepts.iter().copied()).collect(),
        weights: mixture.weights.clone(),
        metric: metric.to_owned(),
        seed,
        candidates: mixture.candidates.name().to_owned(),
        trajectory: Vec::new(),
        positives: Vec::new(),
        rows: 0,
    }
}
