//! The state of a search between two iterations, and its result.

use std::sync::Arc;

use super::iteration::Iteration;
use super::options::FrankWolfeOptions;
use super::packed_counts::PackedCounts;
use super::phase_seconds::PhaseSeconds;
use crate::classifier::Mixture;
use crate::measure::ConfusionTensor;

/// The part of the state that every rank knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct IterationCursor {
    /// Iterations done, each with one new rule, taken or not.
    pub iteration: usize,
    /// 0 is the metric's own gradient, which follows every step; then come the smoothed ones.
    pub direction: usize,
}

/// The quantity that fell below its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndReason {
    Step,
    Gain,
    Gap,
    Iterations,
}

/// The reason for the end of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitEnd {
    pub reason: EndReason,
    /// The step, gain or gap that was compared with its limit.
    pub value: f64,
}

impl FitEnd {
    pub fn description(self, options: &FrankWolfeOptions) -> String {
        let FrankWolfeOptions { max_iterations, tolerance, min_gain, .. } = options;
        let value = self.value;
        match self.reason {
            EndReason::Step => format!("the best step, {value:.2e}, is below --tolerance {tolerance:e}"),
            EndReason::Gain if value < *min_gain => {
                format!("the gain, {value:.2e}, is below --min-gain {min_gain:e}")
            }
            EndReason::Gain => format!("the gain, {value:.2e}, is only rounding error"),
            EndReason::Gap if value < 0.0 => format!(
                "the Frank-Wolfe gap of the next rule, {value:.2e}, is negative: the best rule by the marginals is worse by the \
                 true labels"
            ),
            EndReason::Gap => format!(
                "the Frank-Wolfe gap of the next rule, {value:.2e}, is below --min-gain {min_gain:e}: no rule promises more"
            ),
            EndReason::Iterations => format!("--max-iters {max_iterations} reached"),
        }
    }
}

/// The part of the state that rank 0 knows: with the data and the options, all that is needed to resume with the same bits.
/// Classifier, tensor and counts are by column; see [`ColumnSpace`](super::column_space::ColumnSpace).
#[derive(Clone, Debug, PartialEq)]
pub struct FitState {
    pub mixture: Mixture,
    /// The confusion tensor of that mixture, as the steps have made it.
    pub current: ConfusionTensor,
    pub initial_utility: f64,
    pub utility: f64,
    /// Gap of the last rule of the metric's own gradient.
    pub gap: f64,
    /// The reason for the last stall in the direction of the metric's own gradient.
    pub stall: FitEnd,
    /// Steps taken.
    pub trajectory: Vec<Iteration>,
    /// The direction of each step.
    pub directions: Vec<usize>,
    /// If checkpoints are saved: the counts of the initial classifier's rules, then those of every step's rule.
    pub packed_counts: Vec<Arc<PackedCounts>>,
    /// Passes over the rows.
    pub passes: usize,
    pub seconds: PhaseSeconds,
}

impl FitState {
    /// The state before the first iteration.
    pub(super) fn new(mixture: Mixture, current: ConfusionTensor, utility: f64) -> FitState {
        FitState {
            passes: mixture.rules.len(),
            mixture,
            current,
            initial_utility: utility,
            utility,
            gap: f64::INFINITY,
            stall: FitEnd { reason: EndReason::Step, value: 0.0 },
            trajectory: Vec::new(),
            directions: Vec::new(),
            packed_counts: Vec::new(),
            seconds: PhaseSeconds::default(),
        }
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct FitResult {
    pub mixture: Mixture,
    /// The utility of exactly that mixture.
    pub utility: f64,
    pub initial_utility: f64,
    /// Steps taken. There are more iterations if some rules were not worth a step.
    pub trajectory: Vec<Iteration>,
    pub end: FitEnd,
    /// Gap of the last rule of the metric's own gradient.
    pub gap: f64,
    /// Passes over the rows: those of the initial classifier, then one in every iteration.
    pub passes: usize,
    pub seconds: PhaseSeconds,
}
