//! The rules for choosing steps (Algorithm 1, line 11). To add one, change this file only.

use clap::ValueEnum;

use super::step_search::{Step, best_step_batched};
use crate::measure::{ConfusionTensor, Objective, SegmentBuffers};

/// A rule for choosing steps. The variants' names and comments are the values of `--step` and their help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StepRule {
    /// The best step on [0, 1]
    Search,
    /// 2 / (i + 1), for which the paper proves convergence
    Classic,
}

impl StepRule {
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Returns whether a step may lower the utility. Then a small gain does not end the search, only a small gap or step.
    pub(super) fn may_lose(self) -> bool {
        match self {
            StepRule::Search => false,
            StepRule::Classic => true,
        }
    }

    /// Chooses a step from `current` towards `next`, after `taken` steps.
    pub(super) fn choose(
        self,
        objective: &Objective,
        current: &ConfusionTensor,
        next: &ConfusionTensor,
        taken: usize,
        buffers: &mut SegmentBuffers,
    ) -> Step {
        match self {
            StepRule::Search => {
                let segment = objective.segment(current, next, buffers);
                best_step_batched(|sizes| segment.values(sizes))
            }
            StepRule::Classic => {
                let size = 2.0 / (taken as f64 + 2.0);
                Step { size, value: objective.value_between(current, next, size) }
            }
        }
    }
}
