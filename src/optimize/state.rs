//! Where a search stands between two iterations.

use std::sync::Arc;

use super::answer::Answer;
use super::frank_wolfe::{Fit, Stop};
use super::iteration::Iteration;
use super::scope::Scope;
use super::seconds::Seconds;
use crate::classifier::Mixture;
use crate::measure::Tensor;

/// What every rank knows of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Turn {
    /// Iterations done: rules looked at, taken or not.
    pub iteration: usize,
    /// 0 is the metric's own gradient, then the smoothed ones; the own one again after every step.
    pub direction: usize,
}

/// What rank 0 knows of it: with the data and the options, all that is needed to go on to the same bits. Classifier, tensor and
/// answers are by column, as far as the search goes; see [`Scope`].
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub mixture: Mixture,
    /// The confusion tensor of that mixture, as the steps have made it.
    pub current: Tensor,
    pub initial_utility: f64,
    pub utility: f64,
    /// Gap of the last rule of the metric's own gradient.
    pub gap: f64,
    /// Why the metric's own gradient led no further, when it did not.
    pub stall: Stop,
    /// Steps taken.
    pub trajectory: Vec<Iteration>,
    /// The direction of each.
    pub directions: Vec<usize>,
    /// Where states are saved: what the rows answered to the rules of the initial classifier, then to that of every
    /// step.
    pub answers: Vec<Arc<Answer>>,
    /// Passes over the rows.
    pub passes: usize,
    pub seconds: Seconds,
}

impl State {
    /// Before the first iteration.
    pub(super) fn new(mixture: Mixture, current: Tensor, utility: f64) -> State {
        State {
            passes: mixture.rules.len(),
            mixture,
            current,
            initial_utility: utility,
            utility,
            gap: f64::INFINITY,
            stall: Stop::Step,
            trajectory: Vec::new(),
            directions: Vec::new(),
            answers: Vec::new(),
            seconds: Seconds::default(),
        }
    }

    pub(super) fn finish(self, stopped: Stop, seconds: Seconds, scope: &Scope<'_>) -> Fit {
        let State { mixture, initial_utility, utility, gap, trajectory, passes, .. } = self;
        let mixture = scope.spell_out(mixture);
        Fit { mixture, utility, initial_utility, trajectory, stopped, gap, passes, seconds }
    }
}
