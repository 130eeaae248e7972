//! Where a search stands between two iterations.

use std::sync::Arc;

use super::column_space::ColumnSpace;
use super::frank_wolfe::{EndReason, FitResult};
use super::iteration::Iteration;
use super::packed_counts::PackedCounts;
use super::phase_seconds::PhaseSeconds;
use crate::classifier::Mixture;
use crate::measure::ConfusionTensor;

/// What every rank knows of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct IterationCursor {
    /// Iterations done: rules looked at, taken or not.
    pub iteration: usize,
    /// 0 is the metric's own gradient, then the smoothed ones; the own one again after every step.
    pub direction: usize,
}

/// What rank 0 knows of it: with the data and the options, all that is needed to go on to the same bits. Classifier, tensor and
/// answers are by column, as far as the search goes; see [`ColumnSpace`].
#[derive(Clone, Debug, PartialEq)]
pub struct FitState {
    pub mixture: Mixture,
    /// The confusion tensor of that mixture, as the steps have made it.
    pub current: ConfusionTensor,
    pub initial_utility: f64,
    pub utility: f64,
    /// Gap of the last rule of the metric's own gradient.
    pub gap: f64,
    /// Why the metric's own gradient led no further, when it did not.
    pub stall: EndReason,
    /// Steps taken.
    pub trajectory: Vec<Iteration>,
    /// The direction of each.
    pub directions: Vec<usize>,
    /// Where states are saved: what the rows answered to the rules of the initial classifier, then to that of every
    /// step.
    pub packed_counts: Vec<Arc<PackedCounts>>,
    /// Passes over the rows.
    pub passes: usize,
    pub seconds: PhaseSeconds,
}

impl FitState {
    /// Before the first iteration.
    pub(super) fn new(mixture: Mixture, current: ConfusionTensor, utility: f64) -> FitState {
        FitState {
            passes: mixture.rules.len(),
            mixture,
            current,
            initial_utility: utility,
            utility,
            gap: f64::INFINITY,
            stall: EndReason::Step,
            trajectory: Vec::new(),
            directions: Vec::new(),
            packed_counts: Vec::new(),
            seconds: PhaseSeconds::default(),
        }
    }

    pub(super) fn finish(
        self,
        stopped: EndReason,
        seconds: PhaseSeconds,
        column_space: &ColumnSpace<'_>,
    ) -> FitResult {
        let FitState { mixture, initial_utility, utility, gap, trajectory, passes, .. } = self;
        let mixture = column_space.to_labels(mixture);
        FitResult { mixture, utility, initial_utility, trajectory, stopped, gap, passes, seconds }
    }
}
