//! The one Frank-Wolfe loop. What differs (start, step rule, oracle) is passed in; what happens around it (progress,
//! checkpoints, signals, time) is [`Around`] it.

use std::time::Instant;

use super::around::Around;
use super::initial::Initial;
use super::iteration::Iteration;
use super::oracle::Oracle;
use super::scope::Scope;
use super::seconds::{Seconds, timed};
use super::state::{State, Turn};
use super::step::{Step, StepRule, best_step_together};
use crate::classifier::{Candidates, Mixture, Rule, count_positives};
use crate::error::Result;
use crate::fault;
use crate::measure::{Gradient, Metric, Objective, Population, SegmentSpace, Tensor};
use crate::shard::Shard;
use crate::world::World;

#[derive(Clone, Copy, Debug)]
pub struct Options {
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
pub enum Stop {
    Step,
    Gain,
    Gap,
    Iterations,
}

impl Stop {
    pub(super) const ALL: [Stop; 4] = [Stop::Step, Stop::Gain, Stop::Gap, Stop::Iterations];

    /// For people.
    pub fn explain(self) -> &'static str {
        match self {
            Stop::Step => "the best step is smaller than --tolerance",
            Stop::Gain => "the gain is smaller than --min-gain",
            Stop::Gap => "the Frank-Wolfe gap is smaller than --min-gain: no rule promises more",
            Stop::Iterations => "--max-iters reached",
        }
    }
}

/// What was found. Rank 0 has it; the other ranks have served their rows.
#[derive(Clone, Debug)]
pub struct Fit {
    pub mixture: Mixture,
    /// The utility of exactly that mixture.
    pub utility: f64,
    pub initial_utility: f64,
    /// Steps taken. There may have been more rules looked at than taken.
    pub trajectory: Vec<Iteration>,
    pub stopped: Stop,
    /// Gap of the last rule of the metric's own gradient.
    pub gap: f64,
    /// Passes over the rows: those of the initial classifier, then one for every rule looked at.
    pub passes: usize,
    pub seconds: Seconds,
}

/// What the data fix: instances and positives. Collective.
pub fn population(world: &World, shard: &Shard) -> Population {
    let mut positives = count_positives(shard);
    world.sum(&mut positives, shard.total_rows.saturating_mul(shard.unit()));
    Population { rows: shard.total_rows, unit: shard.unit(), positives }
}

/// When no step towards the best rule of the exact gradient helps, gradients of smoothed metrics are
/// asked: the metric with this many imaginary instances in every denominator.
///
/// Quotients such as precision have gradients of size 1 / epsilon at labels that are hardly ever
/// predicted. A rule that follows those may gain nothing, although other labels could gain: the fit
/// would stall. A smoothed gradient weighs labels more evenly. Steps are always judged by the metric
/// itself, so a smoothed direction can only help.
const SMOOTHED: [f64; 2] = [1.0, 30.0];

/// The epsilon of every direction: the metric's own, then the smoothed ones.
pub(super) fn epsilons(options: &Options, population: &Population) -> [f64; 1 + SMOOTHED.len()] {
    let [little, much] = SMOOTHED.map(|instances| instances / population.rows as f64);
    [options.epsilon, little, much]
}

/// Where a search begins: with a classifier, or where another one stood.
pub enum Start {
    New(Initial),
    /// The state is rank 0's.
    At(Turn, Option<Box<State>>),
}

/// Runs Algorithm 1 on all ranks. Collective.
pub fn frank_wolfe(
    world: &World,
    shard: &Shard,
    population: &Population,
    metric: &Metric,
    start: Start,
    options: &Options,
    around: &mut dyn Around,
) -> Result<Option<Fit>> {
    let epsilons = epsilons(options, population);
    let scope = Scope::new(&shard.marginals, population, metric, options.k, &epsilons);
    let by_label = population;
    let population: &Population = &scope.population(by_label);
    let mut oracle = Oracle::new(world, shard, population, options.k, options.candidates);
    let saves = world.is_root() && around.saves();
    let (mut turn, state) = match start {
        Start::At(turn, state) => (turn, state),
        Start::New(initial) => {
            let mixture = scope.arrange(initial.mixture(by_label, options.k, options.candidates));
            let mut answers = Vec::new();
            let current = oracle.mixed(&mixture, |oracle| answers.extend(saves.then(|| oracle.answer())));
            let utility = scope.bind(metric, options.k, options.epsilon).value(&current);
            let state = State { seconds: oracle.seconds, answers, ..State::new(mixture, current, utility) };
            let state = world.is_root().then(|| Box::new(state));
            (Turn::default(), state)
        }
    };
    oracle.seconds = state.as_ref().map_or(oracle.seconds, |state| state.seconds);
    // Only rank 0 thinks; the others wait for the rule, count their rows, wait for the outcome.
    let mut search = state.map(|state| Search::new(metric, population, options, &scope, *state));
    let stopped = loop {
        if turn.iteration == options.max_iterations {
            break Stop::Iterations;
        }
        around.between(turn, search.as_ref().map(|search| &search.state))?;
        let start = Instant::now();
        let mut gradient = None;
        world.agree(match &mut search {
            Some(search) => timed(&mut oracle.seconds.gradient, || search.gradient(turn.direction))
                .map(|found| gradient = Some(found)),
            None => Ok(()),
        })?;
        let rule = gradient
            .as_ref()
            .zip(search.as_ref())
            .map(|(gradient, search)| timed(&mut oracle.seconds.gradient, || search.rule(gradient)));
        let rule = oracle.share(rule);
        fault::at(world.rank(), "pass")?;
        let next = oracle.tensor(&rule);
        let outcome = search.as_mut().zip(gradient).map(|(search, gradient)| {
            if turn.direction == 0 {
                search.state.gap = timed(&mut oracle.seconds.gradient, || {
                    gradient.directional(&search.state.current, &next)
                });
            }
            let (step, taken) = timed(&mut oracle.seconds.search, || {
                let step = search.step(&next);
                (step, search.take(rule, &next, step, start))
            });
            search.spare = Some(gradient);
            search.state.passes += 1;
            search.state.seconds = oracle.seconds;
            if taken {
                search.state.directions.push(turn.direction);
                search.state.answers.extend(saves.then(|| oracle.answer()));
                around.stepped(&search.state);
            }
            search.outcome(step, taken, turn.direction)
        });
        oracle.reuse(next);
        turn.iteration += 1;
        match oracle.share_outcome(outcome) {
            Outcome::Stepped => turn.direction = 0,
            Outcome::Stalled(_) if turn.direction < SMOOTHED.len() => turn.direction += 1,
            Outcome::Stalled(stop) | Outcome::Stopped(stop) => break stop,
        }
    };
    let mut seconds = oracle.seconds;
    seconds.slowest(world);
    Ok(search.map(|search| search.state.finish(stopped, seconds, &scope)))
}

/// What came of one rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    /// A step worth taking, and on it goes.
    Stepped,
    /// No step worth going on after; another direction may have one.
    Stalled(Stop),
    Stopped(Stop),
}

/// The thinking of rank 0.
pub(super) struct Search<'a> {
    metric: &'a Metric,
    pub(super) objective: Objective,
    population: &'a Population,
    options: &'a Options,
    scope: &'a Scope<'a>,
    /// Utility before the last step.
    before: f64,
    /// A gradient that is needed no more, whose memory the next one takes.
    pub(super) spare: Option<Gradient>,
    space: SegmentSpace,
    pub(super) state: State,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        metric: &'a Metric,
        population: &'a Population,
        options: &'a Options,
        scope: &'a Scope<'a>,
        state: State,
    ) -> Self {
        let objective = scope.bind(metric, options.k, options.epsilon);
        let (before, space) = (state.utility, SegmentSpace::default());
        Search { metric, objective, population, options, scope, before, spare: None, space, state }
    }

    /// Algorithm 1, line 7.
    pub(super) fn gradient(&mut self, direction: usize) -> Result<Gradient> {
        let spare = self.spare.take();
        let found = match direction {
            0 => self.objective.gradient_knowing(self.state.utility, &self.state.current, spare),
            smoothed => {
                let epsilon = epsilons(self.options, self.population)[smoothed];
                let objective = self.scope.bind(self.metric, self.options.k, epsilon);
                objective.gradient_reusing(&self.state.current, spare)
            }
        };
        Ok(found.map_err(|error| self.scope.explain(error))?)
    }

    /// Algorithm 1, lines 8 and 9.
    pub(super) fn rule(&self, gradient: &Gradient) -> Rule {
        Rule::of_gradient(gradient, &self.population.positives)
    }

    /// Algorithm 1, line 11.
    fn step(&mut self, next: &Tensor) -> Step {
        match self.options.step {
            StepRule::Search => {
                let segment = self.objective.segment(&self.state.current, next, &mut self.space);
                best_step_together(|sizes| segment.values(sizes))
            }
            StepRule::Classic => {
                let size = 2.0 / (self.state.trajectory.len() as f64 + 2.0);
                Step { size, value: self.objective.value_between(&self.state.current, next, size) }
            }
        }
    }

    /// Algorithm 1, lines 12 to 15. A step that is too small or promises nothing is not taken, and
    /// neither is its rule.
    fn take(&mut self, rule: Rule, next: &Tensor, step: Step, start: Instant) -> bool {
        let promising = match self.options.step {
            // More than rounding: where nothing can be gained, a rule is not worth keeping.
            StepRule::Search => step.value - self.state.utility > 1e-13 * self.state.utility.abs(),
            StepRule::Classic => self.state.gap >= self.options.min_gain,
        };
        self.before = self.state.utility;
        if step.size < self.options.tolerance || !promising {
            return false;
        }
        self.go(rule, next, step);
        let seconds = start.elapsed().as_secs_f64();
        let done = Iteration { utility: step.value, step: step.size, gap: self.state.gap, seconds };
        self.state.trajectory.push(done);
        true
    }

    /// Goes that far towards a rule (Algorithm 1, lines 13 and 14).
    pub(super) fn go(&mut self, rule: Rule, next: &Tensor, step: Step) {
        self.state.current.mix(next, step.size);
        self.state.mixture.add(rule, step.size);
        self.state.utility = step.value;
    }

    /// Whether to go on after this step, and if not, why.
    fn outcome(&mut self, step: Step, taken: bool, direction: usize) -> Outcome {
        let small_gap = self.state.gap < self.options.min_gain;
        let small_step = step.size < self.options.tolerance;
        if self.options.step == StepRule::Classic {
            // A fixed step may lose at first and win later: only the gap says that it has arrived.
            return match (small_gap, small_step) {
                (true, _) => Outcome::Stopped(Stop::Gap),
                (_, true) => Outcome::Stopped(Stop::Step),
                _ => Outcome::Stepped,
            };
        }
        let small_gain = step.value - self.before < self.options.min_gain;
        if taken && !small_gain {
            return Outcome::Stepped;
        }
        // Why it stopped is what the metric's own gradient says, not a smoothed one.
        if direction == 0 {
            // The gap is a bound for concave metrics only, so a gain that was found counts for more.
            self.state.stall = match (small_gain && small_gap, small_step) {
                (true, _) => Stop::Gap,
                (_, true) => Stop::Step,
                _ => Stop::Gain,
            };
        }
        // Where the best rule changes nothing at all, no other one will.
        let settled = direction == 0 && self.state.gap == 0.0;
        if settled { Outcome::Stopped(self.state.stall) } else { Outcome::Stalled(self.state.stall) }
    }
}
