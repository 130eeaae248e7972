//! Search for layers and a learning rate: which networks to try, and which is best on the held-out rows.

use serde::{Deserialize, Serialize};

use super::options::NetworkOptions;
use super::validation::ValidationScores;

/// Settings of a network to try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Trial {
    pub hidden: Vec<usize>,
    pub rate: f64,
}

/// A finished trial, at its best epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TrialResult {
    pub trial: Trial,
    /// The best number of epochs.
    pub epochs: u32,
    pub held_out: ValidationScores,
}

/// Layers that a search tries besides the given ones.
const LAYERS_TO_TRY: [&[usize]; 5] = [&[256], &[1024], &[2048], &[512, 512], &[512, 512, 512]];

/// Factors of the given learning rate that a search tries with the best layers.
const RATE_FACTORS_TO_TRY: [f64; 2] = [0.5, 2.0];

/// Returns the next network to try: first all layers, then the learning rates with the best layers.
pub(super) fn next_trial(options: &NetworkOptions, tried: &[TrialResult]) -> Option<Trial> {
    let given = Trial { hidden: options.hidden.clone(), rate: options.rate };
    let mut wanted = vec![given];
    if options.search {
        let others = LAYERS_TO_TRY.iter().filter(|&&hidden| hidden != options.hidden);
        wanted.extend(others.map(|hidden| Trial { hidden: hidden.to_vec(), rate: options.rate }));
    }
    let layers = wanted.len();
    if options.search && tried.len() >= layers {
        let best = best_trial(options, &tried[..layers]).map_or(&options.hidden, |best| &best.trial.hidden);
        let with_rate = |by| Trial { hidden: best.clone(), rate: options.rate * by };
        wanted.extend(RATE_FACTORS_TO_TRY.map(with_rate));
    }
    wanted.into_iter().nth(tried.len())
}

/// Returns the best trial on the held-out rows; of equal ones, the first.
pub(super) fn best_trial<'t>(options: &NetworkOptions, tried: &'t [TrialResult]) -> Option<&'t TrialResult> {
    tried.iter().reduce(|a, b| if b.held_out.is_better_than(&a.held_out, options.loss) { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::super::loss::Loss;
    use super::*;

    fn options(search: bool) -> NetworkOptions {
        NetworkOptions {
            hidden: vec![1024],
            loss: Loss::Bce,
            dropout: 0.0,
            rate: 0.001,
            batch: 64,
            epochs: 5,
            validation: 0.1,
            patience: 2,
            search,
            seed: 1,
        }
    }

    fn all(search: bool, loss: impl Fn(&Trial) -> f64) -> Vec<TrialResult> {
        let mut tried = Vec::new();
        while let Some(trial) = next_trial(&options(search), &tried) {
            let held_out = ValidationScores { loss: loss(&trial), ..ValidationScores::default() };
            tried.push(TrialResult { trial, epochs: 3, held_out });
        }
        tried
    }

    #[test]
    fn only_the_given_network_is_tried_without_a_search() {
        assert_eq!(all(false, |_| 1.0).len(), 1);
    }

    #[test]
    fn a_search_tries_layers_first_and_then_rates_with_the_best_layers() {
        let tried = all(true, |trial| if trial.hidden == [512, 512] { 1.0 / trial.rate } else { 1e6 });
        let texts: Vec<String> =
            tried.iter().map(|it| format!("{:?} {}", it.trial.hidden, it.trial.rate)).collect();
        assert_eq!(
            texts,
            [
                "[1024] 0.001",
                "[256] 0.001",
                "[2048] 0.001",
                "[512, 512] 0.001",
                "[512, 512, 512] 0.001",
                "[512, 512] 0.0005",
                "[512, 512] 0.002"
            ]
        );
        assert_eq!(best_trial(&options(true), &tried).unwrap().trial.rate, 0.002);
    }
}
