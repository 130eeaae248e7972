//! The one Frank-Wolfe loop. What differs (start, step rule, oracle, what is shown) is passed in.

use std::time::Instant;

use super::initial::Initial;
use super::oracle::Oracle;
use super::seconds::{Seconds, timed};
use super::step::{Step, StepRule, best_step_together};
use crate::classifier::{Candidates, Mixture, Rule, count_positives};
use crate::error::Result;
use crate::measure::{Gradient, Metric, Objective, Population, SegmentSpace, Tensor};
use crate::shard::Shard;
use crate::store::Iteration;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
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

/// Runs Algorithm 1 on all ranks. `observe` sees every step taken (its number, the initial utility,
/// what was done), on rank 0. Collective.
pub fn frank_wolfe(
    world: &World,
    shard: &Shard,
    population: &Population,
    metric: &Metric,
    initial: Initial,
    options: &Options,
    mut observe: impl FnMut(usize, f64, &Iteration),
) -> Result<Option<Fit>> {
    let mut oracle = Oracle::new(world, shard, population, options.k, options.candidates);
    let mixture = initial.mixture(population, options.k, options.candidates);
    let current = oracle.mixed(&mixture);
    let mut search = Search::new(metric, population, options, mixture, current);
    // 0 is the metric's own gradient, then the smoothed ones; the own one again after every step.
    let mut direction = 0;
    for _ in 0..options.max_iterations {
        let start = Instant::now();
        // Only rank 0 thinks; the others wait for the rule, count their rows, wait for the outcome.
        let mut gradient = None;
        world.on_root(|| {
            gradient = Some(timed(&mut oracle.seconds.gradient, || search.gradient(direction))?);
            Ok(())
        })?;
        let rule = oracle.share(gradient.as_ref().map(|gradient| search.rule(gradient)));
        let next = oracle.tensor(&rule);
        let outcome = gradient.map(|gradient| {
            if direction == 0 {
                search.fit.gap = gradient.directional(&search.current, &next);
            }
            let step = timed(&mut oracle.seconds.search, || search.step(&next));
            let taken = search.take(rule, &next, step, start);
            if taken {
                let trajectory = &search.fit.trajectory;
                observe(trajectory.len(), search.fit.initial_utility, &trajectory[trajectory.len() - 1]);
            }
            search.spare = Some(gradient);
            search.outcome(step, taken, direction)
        });
        oracle.reuse(next);
        match oracle.share_outcome(outcome) {
            Outcome::Stepped => direction = 0,
            Outcome::Stalled(_) if direction < SMOOTHED.len() => direction += 1,
            Outcome::Stalled(stop) | Outcome::Stopped(stop) => {
                search.fit.stopped = stop;
                break;
            }
        }
    }
    oracle.seconds.slowest(world);
    search.fit.seconds = oracle.seconds;
    search.fit.passes = oracle.passes;
    Ok(world.is_root().then_some(search.fit))
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

/// Where the search stands.
struct Search<'a> {
    metric: &'a Metric,
    objective: Objective,
    population: &'a Population,
    options: &'a Options,
    current: Tensor,
    /// Utility before the last step.
    before: f64,
    /// Why the metric's own gradient led no further, when it did not.
    stall: Stop,
    /// A gradient that is needed no more, whose memory the next one takes.
    spare: Option<Gradient>,
    space: SegmentSpace,
    fit: Fit,
}

impl<'a> Search<'a> {
    fn new(
        metric: &'a Metric,
        population: &'a Population,
        options: &'a Options,
        mixture: Mixture,
        current: Tensor,
    ) -> Self {
        let objective = metric.bind(options.k, options.epsilon);
        let utility = objective.value(&current);
        let fit = Fit {
            mixture,
            utility,
            initial_utility: utility,
            trajectory: Vec::new(),
            stopped: Stop::Iterations,
            gap: f64::INFINITY,
            passes: 0,
            seconds: Seconds::default(),
        };
        Search {
            metric,
            objective,
            population,
            options,
            current,
            before: utility,
            stall: Stop::Step,
            spare: None,
            space: SegmentSpace::default(),
            fit,
        }
    }

    /// Algorithm 1, line 7.
    fn gradient(&mut self, direction: usize) -> Result<Gradient> {
        let spare = self.spare.take();
        Ok(match direction {
            0 => self.objective.gradient_reusing(&self.current, spare)?,
            smoothed => {
                let epsilon = SMOOTHED[smoothed - 1] / self.population.rows as f64;
                self.metric.bind(self.options.k, epsilon).gradient_reusing(&self.current, spare)?
            }
        })
    }

    /// Algorithm 1, lines 8 and 9.
    fn rule(&self, gradient: &Gradient) -> Rule {
        Rule::affine(&gradient.slopes, &gradient.intercepts).order_unseen(&self.population.positives)
    }

    /// Algorithm 1, line 11.
    fn step(&mut self, next: &Tensor) -> Step {
        match self.options.step {
            StepRule::Search => {
                let segment = self.objective.segment(&self.current, next, &mut self.space);
                best_step_together(|sizes| segment.values(sizes))
            }
            StepRule::Classic => {
                let size = 2.0 / (self.fit.trajectory.len() as f64 + 2.0);
                Step { size, value: self.objective.value_between(&self.current, next, size) }
            }
        }
    }

    /// Algorithm 1, lines 12 to 15. A step that is too small or promises nothing is not taken, and
    /// neither is its rule.
    fn take(&mut self, rule: Rule, next: &Tensor, step: Step, start: Instant) -> bool {
        let promising = match self.options.step {
            // More than rounding: where nothing can be gained, a rule is not worth keeping.
            StepRule::Search => step.value - self.fit.utility > 1e-13 * self.fit.utility.abs(),
            StepRule::Classic => self.fit.gap >= self.options.min_gain,
        };
        self.before = self.fit.utility;
        if step.size < self.options.tolerance || !promising {
            return false;
        }
        self.current.mix(next, step.size);
        self.fit.mixture.add(rule, step.size);
        self.fit.utility = step.value;
        let seconds = start.elapsed().as_secs_f64();
        let done = Iteration { utility: step.value, step: step.size, gap: self.fit.gap, seconds };
        self.fit.trajectory.push(done);
        true
    }

    /// Whether to go on after this step, and if not, why.
    fn outcome(&mut self, step: Step, taken: bool, direction: usize) -> Outcome {
        let small_gap = self.fit.gap < self.options.min_gain;
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
            self.stall = match (small_gain && small_gap, small_step) {
                (true, _) => Stop::Gap,
                (_, true) => Stop::Step,
                _ => Stop::Gain,
            };
        }
        // Where the best rule changes nothing at all, no other one will.
        let settled = direction == 0 && self.fit.gap == 0.0;
        if settled { Outcome::Stopped(self.stall) } else { Outcome::Stalled(self.stall) }
    }
}
