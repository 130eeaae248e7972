//! The decisions of rank 0.

use std::sync::Arc;
use std::time::Instant;

use super::column_space::ColumnSpace;
use super::frank_wolfe::IterationOutcome;
use super::iteration::Iteration;
use super::options::{Epsilon, FrankWolfeOptions};
use super::problem::FitProblem;
use super::state::{EndReason, FitEnd, FitState};
use super::step_search::Step;
use crate::classifier::Rule;
use crate::error::Result;
use crate::measure::{ConfusionTensor, Gradient, Metric, Objective, Population, SegmentBuffers};

/// Imaginary instances in every denominator of the smoothed metrics, whose gradients are tried if no step along the metric's own
/// gradient helps.
///
/// Quotients such as precision have gradients of size 1 / epsilon at rarely predicted labels. A rule that follows those may gain
/// nothing although other labels could. A smoothed gradient weighs labels more evenly. Steps are always judged by the metric
/// itself, so smoothed directions can only help.
const SMOOTHING_INSTANCES: [f64; SMOOTHED_DIRECTIONS] = [1.0, 30.0];
pub(super) const SMOOTHED_DIRECTIONS: usize = 2;

/// Returns the epsilon of every direction: the metric's own, then the smoothed ones.
pub(super) fn direction_epsilons(epsilon: Epsilon, rows: u64) -> [f64; 1 + SMOOTHED_DIRECTIONS] {
    let [little, much] = SMOOTHING_INSTANCES.map(|instances| instances / rows as f64);
    [epsilon.for_rows(rows), little, much]
}

/// The state of rank 0, and what its decisions need.
pub(super) struct RootSolver<'a> {
    metric: &'a Metric,
    k: usize,
    options: FrankWolfeOptions,
    epsilons: [f64; 1 + SMOOTHED_DIRECTIONS],
    pub objective: Objective,
    population: Arc<Population>,
    column_space: ColumnSpace<'a>,
    /// The last gradient. The next one takes its memory.
    gradient: Option<Gradient>,
    buffers: SegmentBuffers,
    pub state: FitState,
}

impl<'a> RootSolver<'a> {
    pub fn new(
        problem: &'a FitProblem<'a>,
        population: Arc<Population>,
        column_space: ColumnSpace<'a>,
        state: FitState,
    ) -> Self {
        let FitProblem { metric, k, options, .. } = *problem;
        let epsilons = direction_epsilons(options.epsilon, population.rows);
        RootSolver {
            metric,
            k,
            options,
            epsilons,
            objective: column_space.bind(metric, k, epsilons[0]),
            population,
            column_space,
            gradient: None,
            buffers: SegmentBuffers::default(),
            state,
        }
    }

    /// Returns the best rule for the gradient of a direction (Algorithm 1, lines 7 to 9).
    pub fn next_rule(&mut self, direction: usize) -> Result<Rule> {
        let (spare, state) = (self.gradient.take(), &self.state);
        let gradient = match direction {
            0 => self.objective.gradient_reusing(&state.current, Some(state.utility), spare),
            smoothed => {
                let objective = self.column_space.bind(self.metric, self.k, self.epsilons[smoothed]);
                objective.gradient_reusing(&state.current, None, spare)
            }
        };
        let gradient = gradient.map_err(|error| self.column_space.error_by_label(error))?;
        let rule = Rule::from_gradient(&gradient, &self.population.positives);
        self.gradient = Some(gradient);
        Ok(rule)
    }

    /// Returns the Frank-Wolfe gap: the gain that the last gradient promises for the rule with the tensor `next`.
    pub fn gap(&self, next: &ConfusionTensor) -> f64 {
        let gradient = self.gradient.as_ref().expect("a rule has been made from a gradient");
        gradient.directional_derivative(&self.state.current, next)
    }

    /// Chooses a step towards the rule with the tensor `next` (Algorithm 1, line 11).
    pub fn choose_step(&mut self, next: &ConfusionTensor) -> Step {
        let (current, taken) = (&self.state.current, self.state.trajectory.len());
        self.options.step.choose(&self.objective, current, next, taken, &mut self.buffers)
    }

    /// Takes a step if it is worth it, and decides how to continue (Algorithm 1, lines 12 to 15).
    pub fn try_step(
        &mut self,
        rule: Rule,
        next: &ConfusionTensor,
        step: Step,
        direction: usize,
        start: Instant,
    ) -> IterationOutcome {
        let FrankWolfeOptions { tolerance, min_gain, step: step_rule, .. } = self.options;
        let (gap, gain) = (self.state.gap, step.value - self.state.utility);
        let promising = if step_rule.may_lose() {
            gap >= min_gain
        } else {
            // Require more than rounding error; otherwise the rule adds nothing.
            gain > 1e-13 * self.state.utility.abs()
        };
        let (small_step, small_gain, small_gap) = (step.size < tolerance, gain < min_gain, gap < min_gain);
        let taken = !small_step && promising;
        if taken {
            self.apply_step(rule, next, step);
            let seconds = start.elapsed().as_secs_f64();
            let done = Iteration { utility: step.value, step: step.size, gap, seconds };
            self.state.trajectory.push(done);
            self.state.directions.push(direction);
        }
        // If steps may lose, gains do not show convergence; only the gap does.
        let arrived = small_gap && (small_gain || step_rule.may_lose());
        let end = match (arrived, small_step) {
            (true, _) => FitEnd { reason: EndReason::Gap, value: gap },
            (_, true) => FitEnd { reason: EndReason::Step, value: step.size },
            _ => FitEnd { reason: EndReason::Gain, value: gain },
        };
        if step_rule.may_lose() {
            self.state.stall = end;
            return if small_gap || small_step {
                IterationOutcome::Stopped
            } else {
                IterationOutcome::Stepped
            };
        }
        if taken && !small_gain {
            return IterationOutcome::Stepped;
        }
        // The metric's own gradient gives the reason, not a smoothed one.
        if direction == 0 {
            self.state.stall = end;
        }
        // If the best rule changes nothing at all, neither does any other.
        if direction == 0 && gap == 0.0 { IterationOutcome::Stopped } else { IterationOutcome::Stalled }
    }

    /// Moves the state towards a rule (Algorithm 1, lines 13 to 15).
    pub fn apply_step(&mut self, rule: Rule, next: &ConfusionTensor, step: Step) {
        self.state.current.mix(next, step.size);
        self.state.mixture.add(rule, step.size);
        self.state.utility = step.value;
    }
}
