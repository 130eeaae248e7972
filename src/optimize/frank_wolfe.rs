//! The one Frank-Wolfe loop. What differs (start, step rule, oracle, what is shown) is passed in.

use std::time::Instant;

use super::initial::Initial;
use super::seconds::{Seconds, timed};
use super::step::{Step, StepRule, best_step};
use crate::classifier::{Candidates, Mixture, Rule, count, count_positives};
use crate::error::Result;
use crate::measure::{Metric, Objective, Population, Tensor};
use crate::shard::Shard;
use crate::store::Iteration;
use crate::world::World;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub k: usize,
    pub epsilon: f64,
    pub candidates: Candidates,
    pub step: StepRule,
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
    const ALL: [Stop; 4] = [Stop::Step, Stop::Gain, Stop::Gap, Stop::Iterations];

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
    pub trajectory: Vec<Iteration>,
    pub stopped: Stop,
    /// Gap of the last rule looked at.
    pub gap: f64,
    /// Passes over the rows, the initial classifier's not counted.
    pub passes: usize,
    pub seconds: Seconds,
}

/// What the data fix: instances and positives. Collective.
pub fn population(world: &World, shard: &Shard) -> Population {
    let mut positives = count_positives(shard);
    world.sum(&mut positives);
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

/// Runs Algorithm 1 on all ranks. `observe` sees every finished iteration (its number, the initial
/// utility, what was done), on rank 0.
pub fn frank_wolfe(
    world: &World,
    shard: &Shard,
    population: &Population,
    metric: &Metric,
    initial: Initial,
    options: &Options,
    mut observe: impl FnMut(usize, f64, &Iteration),
) -> Result<Option<Fit>> {
    let objective = metric.bind(options.k, options.epsilon);
    let mut oracle = Oracle { world, shard, population, options, seconds: Seconds::default() };
    let mixture = initial.mixture(population, options.k, options.candidates);
    let mut current = oracle.mixed(&mixture);
    let initial_utility = objective.value(&current);
    let mut fit = Fit {
        mixture,
        utility: initial_utility,
        initial_utility,
        trajectory: Vec::new(),
        stopped: Stop::Iterations,
        gap: f64::INFINITY,
        passes: 0,
        seconds: Seconds::default(),
    };
    // 0 is the metric's own gradient, then the smoothed ones; the own one again after every step.
    let mut direction = 0;
    let mut own_verdict = None;
    while fit.trajectory.len() < options.max_iterations {
        let start = Instant::now();
        // Only rank 0 thinks; the others wait for the rule, count their rows, wait for the verdict.
        let mut gradient = None;
        world.on_root(|| {
            let epsilon = match direction {
                0 => options.epsilon,
                smoothed => SMOOTHED[smoothed - 1] / population.rows as f64,
            };
            let smooth = metric.bind(options.k, epsilon);
            gradient = Some(timed(&mut oracle.seconds.gradient, || smooth.gradient(&current))?);
            Ok(())
        })?;
        let rule = gradient.as_ref().map(|gradient| {
            Rule::affine(&gradient.slopes, &gradient.intercepts).order_unseen(&population.positives)
        });
        let rule = oracle.share(rule);
        let next = oracle.tensor(&rule);
        fit.passes += 1;
        let mut outcome = Outcome::Stepped;
        if let Some(gradient) = gradient {
            if direction == 0 {
                fit.gap = gradient.directional(&current, &next);
            }
            let step = timed(&mut oracle.seconds.search, || {
                choose(&objective, &current, &next, fit.trajectory.len() + 1, options.step)
            });
            let verdict = verdict(step, fit.utility, fit.gap, options);
            // The rule of a step that is too small, or that gains nothing, is not taken.
            let taken = match options.step {
                StepRule::Classic => verdict.is_none(),
                StepRule::Search => step.size >= options.tolerance && step.value > fit.utility,
            };
            if taken {
                current.mix(&next, step.size);
                fit.mixture.add(rule, step.size);
                fit.utility = step.value;
                let seconds = start.elapsed().as_secs_f64();
                let done = Iteration { utility: step.value, step: step.size, gap: fit.gap, seconds };
                fit.trajectory.push(done);
                observe(fit.trajectory.len(), initial_utility, &done);
            }
            outcome = match verdict {
                None => Outcome::Stepped,
                // Where the rule changes nothing at all, no other one will be better.
                Some(stop) if options.step == StepRule::Classic || fit.gap == 0.0 => Outcome::Stopped(stop),
                Some(stop) => Outcome::Stalled(*own_verdict.get_or_insert(stop)),
            };
        }
        match oracle.share_outcome(outcome) {
            Outcome::Stepped => (direction, own_verdict) = (0, None),
            Outcome::Stalled(_) if direction < SMOOTHED.len() => direction += 1,
            Outcome::Stalled(stop) | Outcome::Stopped(stop) => {
                fit.stopped = stop;
                break;
            }
        }
    }
    oracle.seconds.slowest(world);
    fit.seconds = oracle.seconds;
    Ok(world.is_root().then_some(fit))
}

fn choose(objective: &Objective, current: &Tensor, next: &Tensor, iteration: usize, rule: StepRule) -> Step {
    match rule {
        StepRule::Search => best_step(|size| objective.value_between(current, next, size)),
        StepRule::Classic => {
            let size = 2.0 / (iteration as f64 + 1.0);
            Step { size, value: objective.value_between(current, next, size) }
        }
    }
}

/// Whether to stop with this step, and why.
fn verdict(step: Step, utility: f64, gap: f64, options: &Options) -> Option<Stop> {
    let small_gap = gap < options.min_gain;
    match options.step {
        // A fixed step may lose at first and win later: only the gap says that it has arrived.
        StepRule::Classic if small_gap => Some(Stop::Gap),
        StepRule::Classic => (step.size < options.tolerance).then_some(Stop::Step),
        // The gap is a bound for concave metrics only, so a gain that was found counts for more.
        StepRule::Search if step.value - utility < options.min_gain && small_gap => Some(Stop::Gap),
        StepRule::Search if step.size < options.tolerance => Some(Stop::Step),
        StepRule::Search => (step.value - utility < options.min_gain).then_some(Stop::Gain),
    }
}

/// What came of one rule.
#[derive(Clone, Copy)]
enum Outcome {
    /// A step worth taking, and on it goes.
    Stepped,
    /// No step worth going on after; another direction may have one.
    Stalled(Stop),
    Stopped(Stop),
}

/// The linear problem's solution and its confusion tensor, over all ranks.
struct Oracle<'a> {
    world: &'a World,
    shard: &'a Shard,
    population: &'a Population,
    options: &'a Options,
    seconds: Seconds,
}

impl Oracle<'_> {
    /// Algorithm 1, lines 9 and 10.
    fn tensor(&mut self, rule: &Rule) -> Tensor {
        let Options { k, candidates, .. } = *self.options;
        let mut counts = timed(&mut self.seconds.oracle, || count(self.shard, rule, k, candidates));
        timed(&mut self.seconds.reduce, || {
            self.world.sum(&mut counts.true_positives);
            self.world.sum(&mut counts.predicted);
        });
        Tensor::new(&counts, self.population)
    }

    /// Rank 0's rule on every rank.
    fn share(&mut self, rule: Option<Rule>) -> Rule {
        let mut rule = rule.unwrap_or_else(|| Rule { slopes: Vec::new(), intercepts: Vec::new() });
        timed(&mut self.seconds.reduce, || {
            self.world.broadcast(&mut rule.slopes);
            self.world.broadcast(&mut rule.intercepts);
        });
        rule
    }

    /// The tensor of a mixture: that of its rules, weighted.
    fn mixed(&mut self, mixture: &Mixture) -> Tensor {
        let parts: Vec<Tensor> = mixture.rules.iter().map(|rule| self.tensor(rule)).collect();
        let weighted: Vec<(f64, &Tensor)> = mixture.weights.iter().copied().zip(&parts).collect();
        Tensor::scaled_sum(&weighted)
    }

    /// Rank 0's outcome on every rank.
    fn share_outcome(&mut self, outcome: Outcome) -> Outcome {
        let position = |stop| Stop::ALL.iter().position(|&other| other == stop).unwrap_or(0) as u64;
        let mut code = match outcome {
            Outcome::Stepped => vec![0, 0],
            Outcome::Stalled(stop) => vec![1, position(stop)],
            Outcome::Stopped(stop) => vec![2, position(stop)],
        };
        timed(&mut self.seconds.reduce, || self.world.broadcast(&mut code));
        let stop = Stop::ALL[code[1] as usize];
        match code[0] {
            0 => Outcome::Stepped,
            1 => Outcome::Stalled(stop),
            _ => Outcome::Stopped(stop),
        }
    }
}
