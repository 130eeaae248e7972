//! The one Frank-Wolfe loop. What differs (start, step rule, oracle) is passed in; what happens around it (progress,
//! checkpoints, signals, time) is [`LoopHooks`] it.

use std::time::Instant;

use super::column_space::ColumnSpace;
use super::initial::InitialClassifier;
use super::iteration::Iteration;
use super::loop_hooks::LoopHooks;
use super::oracle::Oracle;
use super::phase_seconds::{PhaseSeconds, timed};
use super::state::{FitState, IterationCursor};
use super::step_search::{Step, StepRule, best_step_batched};
use crate::classifier::{Candidates, Mixture, Rule, count_positives};
use crate::error::Result;
use crate::fault;
use crate::measure::{ConfusionTensor, Gradient, Metric, Objective, Population, SegmentBuffers};
use crate::shard::Shard;
use crate::world::World;

#[derive(Clone, Copy, Debug)]
pub struct FrankWolfeOptions {
    pub k: usize,
    pub epsilon: f64,
    pub candidates: Candidates,
    pub step: StepRule,
    /// Rules looked at, each one pass over the rows.
    pub max_iterations: usize,
    /// A smaller step ends the search (the paper's epsilon in Algorithm 1).
    pub tolerance: f64,
    /// A smaller gain, or a smaller gap, ends it.
    pub min_gain: f64,
}

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndReason {
    Step,
    Gain,
    Gap,
    Iterations,
}

impl EndReason {
    pub(super) const ALL: [EndReason; 4] =
        [EndReason::Step, EndReason::Gain, EndReason::Gap, EndReason::Iterations];

    /// For people.
    pub fn description(self) -> &'static str {
        match self {
            EndReason::Step => "the best step is smaller than --tolerance",
            EndReason::Gain => "the gain is smaller than --min-gain",
            EndReason::Gap => "the Frank-Wolfe gap is smaller than --min-gain: no rule promises more",
            EndReason::Iterations => "--max-iters reached",
        }
    }
}

/// What was found. Rank 0 has it; the other ranks have served their rows.
#[derive(Clone, Debug)]
pub struct FitResult {
    pub mixture: Mixture,
    /// The utility of exactly that mixture.
    pub utility: f64,
    pub initial_utility: f64,
    /// Steps taken. There may have been more rules looked at than taken.
    pub trajectory: Vec<Iteration>,
    pub stopped: EndReason,
    /// Gap of the last rule of the metric's own gradient.
    pub gap: f64,
    /// Passes over the rows: those of the initial classifier, then one for every rule looked at.
    pub passes: usize,
    pub seconds: PhaseSeconds,
}

/// What the data fix: instances and positives. Collective.
pub fn count_population(world: &World, shard: &Shard) -> Population {
    let mut positives = count_positives(shard);
    world.sum(&mut positives, shard.total_rows.saturating_mul(shard.count_unit()));
    Population { rows: shard.total_rows, unit: shard.count_unit(), positives }
}

/// When no step towards the best rule of the exact gradient helps, gradients of smoothed metrics are
/// asked: the metric with this many imaginary instances in every denominator.
///
/// Quotients such as precision have gradients of size 1 / epsilon at labels that are hardly ever
/// predicted. A rule that follows those may gain nothing, although other labels could gain: the fit
/// would stall. A smoothed gradient weighs labels more evenly. Steps are always judged by the metric
/// itself, so a smoothed direction can only help.
const SMOOTHING_INSTANCES: [f64; 2] = [1.0, 30.0];

/// The epsilon of every direction: the metric's own, then the smoothed ones.
pub(super) fn epsilons(
    options: &FrankWolfeOptions,
    population: &Population,
) -> [f64; 1 + SMOOTHING_INSTANCES.len()] {
    let [little, much] = SMOOTHING_INSTANCES.map(|instances| instances / population.rows as f64);
    [options.epsilon, little, much]
}

/// Where a search begins: with a classifier, or where another one stood.
pub enum Start {
    New(InitialClassifier),
    /// The state is rank 0's.
    Resumed(IterationCursor, Option<Box<FitState>>),
}

/// Runs Algorithm 1 on all ranks. Collective.
pub fn frank_wolfe(
    world: &World,
    shard: &Shard,
    population: &Population,
    metric: &Metric,
    start: Start,
    options: &FrankWolfeOptions,
    hooks: &mut dyn LoopHooks,
) -> Result<Option<FitResult>> {
    let epsilons = epsilons(options, population);
    let column_space = ColumnSpace::new(&shard.marginals, population, metric, options.k, &epsilons);
    let by_label = population;
    let population: &Population = &column_space.restrict_population(by_label);
    let mut oracle = Oracle::new(world, shard, population, options.k, options.candidates);
    let saves = world.is_root() && hooks.saves_checkpoints();
    let (mut cursor, state) = match start {
        Start::Resumed(cursor, state) => (cursor, state),
        Start::New(initial) => {
            let mixture = column_space.to_columns(initial.mixture(by_label, options.k, options.candidates));
            let mut packed_counts = Vec::new();
            let current = oracle
                .mixture_tensor(&mixture, |oracle| packed_counts.extend(saves.then(|| oracle.pack_counts())));
            let utility = column_space.bind(metric, options.k, options.epsilon).value(&current);
            let state = FitState {
                seconds: oracle.seconds,
                packed_counts,
                ..FitState::new(mixture, current, utility)
            };
            let state = world.is_root().then(|| Box::new(state));
            (IterationCursor::default(), state)
        }
    };
    oracle.seconds = state.as_ref().map_or(oracle.seconds, |state| state.seconds);
    // Only rank 0 thinks; the others wait for the rule, count their rows, wait for the outcome.
    let mut solver = state.map(|state| RootSolver::new(metric, population, options, &column_space, *state));
    let stopped = loop {
        if cursor.iteration == options.max_iterations {
            break EndReason::Iterations;
        }
        hooks.before_iteration(cursor, solver.as_ref().map(|solver| &solver.state))?;
        let start = Instant::now();
        let mut gradient = None;
        world.agree(match &mut solver {
            Some(solver) => timed(&mut oracle.seconds.gradient, || solver.gradient(cursor.direction))
                .map(|found| gradient = Some(found)),
            None => Ok(()),
        })?;
        let rule = gradient
            .as_ref()
            .zip(solver.as_ref())
            .map(|(gradient, solver)| timed(&mut oracle.seconds.gradient, || solver.rule(gradient)));
        let rule = oracle.broadcast_rule(rule);
        fault::inject(world.rank(), "pass")?;
        let next = oracle.rule_tensor(&rule);
        let outcome = solver.as_mut().zip(gradient).map(|(solver, gradient)| {
            if cursor.direction == 0 {
                solver.state.gap = timed(&mut oracle.seconds.gradient, || {
                    gradient.directional_derivative(&solver.state.current, &next)
                });
            }
            let (step, taken) = timed(&mut oracle.seconds.search, || {
                let step = solver.choose_step(&next);
                (step, solver.try_step(rule, &next, step, start))
            });
            solver.spare = Some(gradient);
            solver.state.passes += 1;
            solver.state.seconds = oracle.seconds;
            if taken {
                solver.state.directions.push(cursor.direction);
                solver.state.packed_counts.extend(saves.then(|| oracle.pack_counts()));
                hooks.step_taken(&solver.state);
            }
            solver.outcome(step, taken, cursor.direction)
        });
        oracle.reuse(next);
        cursor.iteration += 1;
        match oracle.broadcast_outcome(outcome) {
            IterationOutcome::Stepped => cursor.direction = 0,
            IterationOutcome::Stalled(_) if cursor.direction < SMOOTHING_INSTANCES.len() => {
                cursor.direction += 1
            }
            IterationOutcome::Stalled(stop) | IterationOutcome::Stopped(stop) => break stop,
        }
    };
    let mut seconds = oracle.seconds;
    seconds.max_over_ranks(world);
    Ok(solver.map(|solver| solver.state.finish(stopped, seconds, &column_space)))
}

/// What came of one rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum IterationOutcome {
    /// A step worth taking, and on it goes.
    Stepped,
    /// No step worth going on after; another direction may have one.
    Stalled(EndReason),
    Stopped(EndReason),
}

/// The thinking of rank 0.
pub(super) struct RootSolver<'a> {
    metric: &'a Metric,
    pub(super) objective: Objective,
    population: &'a Population,
    options: &'a FrankWolfeOptions,
    column_space: &'a ColumnSpace<'a>,
    /// Utility before the last step.
    previous_utility: f64,
    /// A gradient that is needed no more, whose memory the next one takes.
    pub(super) spare: Option<Gradient>,
    buffers: SegmentBuffers,
    pub(super) state: FitState,
}

impl<'a> RootSolver<'a> {
    pub(super) fn new(
        metric: &'a Metric,
        population: &'a Population,
        options: &'a FrankWolfeOptions,
        column_space: &'a ColumnSpace<'a>,
        state: FitState,
    ) -> Self {
        let objective = column_space.bind(metric, options.k, options.epsilon);
        let (previous_utility, buffers) = (state.utility, SegmentBuffers::default());
        RootSolver {
            metric,
            objective,
            population,
            options,
            column_space,
            previous_utility,
            spare: None,
            buffers,
            state,
        }
    }

    /// Algorithm 1, line 7.
    pub(super) fn gradient(&mut self, direction: usize) -> Result<Gradient> {
        let spare = self.spare.take();
        let found = match direction {
            0 => self.objective.gradient_with_value(self.state.utility, &self.state.current, spare),
            smoothed => {
                let epsilon = epsilons(self.options, self.population)[smoothed];
                let objective = self.column_space.bind(self.metric, self.options.k, epsilon);
                objective.gradient_reusing(&self.state.current, spare)
            }
        };
        Ok(found.map_err(|error| self.column_space.error_by_label(error))?)
    }

    /// Algorithm 1, lines 8 and 9.
    pub(super) fn rule(&self, gradient: &Gradient) -> Rule {
        Rule::from_gradient(gradient, &self.population.positives)
    }

    /// Algorithm 1, line 11.
    fn choose_step(&mut self, next: &ConfusionTensor) -> Step {
        match self.options.step {
            StepRule::Search => {
                let segment = self.objective.segment(&self.state.current, next, &mut self.buffers);
                best_step_batched(|sizes| segment.values(sizes))
            }
            StepRule::Classic => {
                let size = 2.0 / (self.state.trajectory.len() as f64 + 2.0);
                Step { size, value: self.objective.value_between(&self.state.current, next, size) }
            }
        }
    }

    /// Algorithm 1, lines 12 to 15. A step that is too small or promises nothing is not taken, and
    /// neither is its rule.
    fn try_step(&mut self, rule: Rule, next: &ConfusionTensor, step: Step, start: Instant) -> bool {
        let promising = match self.options.step {
            // More than rounding: where nothing can be gained, a rule is not worth keeping.
            StepRule::Search => step.value - self.state.utility > 1e-13 * self.state.utility.abs(),
            StepRule::Classic => self.state.gap >= self.options.min_gain,
        };
        self.previous_utility = self.state.utility;
        if step.size < self.options.tolerance || !promising {
            return false;
        }
        self.apply_step(rule, next, step);
        let seconds = start.elapsed().as_secs_f64();
        let done = Iteration { utility: step.value, step: step.size, gap: self.state.gap, seconds };
        self.state.trajectory.push(done);
        true
    }

    /// Goes that far towards a rule (Algorithm 1, lines 13 and 14).
    pub(super) fn apply_step(&mut self, rule: Rule, next: &ConfusionTensor, step: Step) {
        self.state.current.mix(next, step.size);
        self.state.mixture.add(rule, step.size);
        self.state.utility = step.value;
    }

    /// Whether to go on after this step, and if not, why.
    fn outcome(&mut self, step: Step, taken: bool, direction: usize) -> IterationOutcome {
        let small_gap = self.state.gap < self.options.min_gain;
        let small_step = step.size < self.options.tolerance;
        if self.options.step == StepRule::Classic {
            // A fixed step may lose at first and win later: only the gap says that it has arrived.
            return match (small_gap, small_step) {
                (true, _) => IterationOutcome::Stopped(EndReason::Gap),
                (_, true) => IterationOutcome::Stopped(EndReason::Step),
                _ => IterationOutcome::Stepped,
            };
        }
        let small_gain = step.value - self.previous_utility < self.options.min_gain;
        if taken && !small_gain {
            return IterationOutcome::Stepped;
        }
        // Why it stopped is what the metric's own gradient says, not a smoothed one.
        if direction == 0 {
            // The gap is a bound for concave metrics only, so a gain that was found counts for more.
            self.state.stall = match (small_gain && small_gap, small_step) {
                (true, _) => EndReason::Gap,
                (_, true) => EndReason::Step,
                _ => EndReason::Gain,
            };
        }
        // Where the best rule changes nothing at all, no other one will.
        let settled = direction == 0 && self.state.gap == 0.0;
        if settled {
            IterationOutcome::Stopped(self.state.stall)
        } else {
            IterationOutcome::Stalled(self.state.stall)
        }
    }
}
