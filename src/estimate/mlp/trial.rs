//! Which networks are tried on the rows held out, and which of them is best.

use serde::{Deserialize, Serialize};

use super::options::NetworkOptions;
use super::validation::ValidationScores;

/// What differs between the networks that are tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Trial {
    pub hidden: Vec<usize>,
    pub rate: f64,
}

/// The best epoch of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TrialResult {
    pub trial: Trial,
    /// Epochs, from 1.
    pub epochs: u32,
    pub held_out: ValidationScores,
}

/// Layers that a search tries beside those it is given.
const LAYERS_TO_TRY: [&[usize]; 5] = [&[256], &[1024], &[2048], &[512, 512], &[512, 512, 512]];

/// And learning rates, times the one it is given, with the best layers.
const RATE_FACTORS_TO_TRY: [f64; 2] = [0.5, 2.0];

/// The next network to try after these: first all layers, then the learning rates with the best of them.
pub(super) fn next_trial(options: &NetworkOptions, tried: &[TrialResult]) -> Option<Trial> {
    let given = Trial { hidden: options.hidden.clone(), rate: options.rate };
    let mut wanted = vec![given];
    if options.search {
        let others = LAYERS_TO_TRY.iter().filter(|&&hidden| hidden != options.hidden);
        wanted.extend(others.map(|hidden| Trial { hidden: hidden.to_vec(), rate: options.rate }));
    }
    let layers = wanted.len();
    if let Some(best) = best_trial(options, &tried[..layers.min(tried.len())])
        .filter(|_| options.search && tried.len() >= layers)
    {
        let hidden = &best.trial.hidden;
        wanted.extend(
            RATE_FACTORS_TO_TRY.iter().map(|by| Trial { hidden: hidden.clone(), rate: options.rate * by }),
        );
    }
    wanted.into_iter().nth(tried.len())
}

/// The one that is best on the rows held out; of equal ones the first.
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
    fn without_a_search_only_what_was_asked_for_is_tried() {
        assert_eq!(all(false, |_| 1.0).len(), 1);
    }

    #[test]
    fn a_search_tries_layers_first_and_then_rates_with_the_best() {
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
