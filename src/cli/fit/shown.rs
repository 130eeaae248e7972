//! What people see of a fit.

use super::Ready;
use crate::classifier::Kernel;
use crate::cli::common::Context;
use crate::format::{bytes, count, seconds};
use crate::load::Plan;
use crate::measure::{Objective, Population, monotone};
use crate::optimize::{Fit, Iteration, Observer, State};
use crate::report::{Console, Phases};

/// The plan, before anything takes long.
pub(super) fn describe(context: &Context<'_>, ready: &Ready<'_>, plan: &Plan) {
    let ranks = context.world.size();
    context.console.line(format_args!(
        "{}: {} instances x {} labels, {} stored; k = {}, maximising {}",
        ready.load.marginals,
        count(plan.rows),
        count(plan.labels),
        count(plan.entries),
        ready.k,
        ready.metric.text(),
    ));
    context.console.line(match &ready.load.labels {
        Some(labels) => format!("labels from {labels}"),
        None => "no labels given: the marginals stand in as expected labels".into(),
    });
    context.console.line(format_args!(
        "{} rank{} x {} thread{} ({} kernel), {} a pass; needs {}",
        ranks,
        if ranks == 1 { "" } else { "s" },
        context.threads,
        if context.threads == 1 { "" } else { "s" },
        Kernel::best().name(),
        bytes(plan.bytes_per_pass),
        plan.memory,
    ));
}

pub(super) fn warn(context: &Context<'_>, objective: &Objective, population: &Population) {
    for warning in monotone::warnings(objective) {
        context.console.warn(warning);
    }
    let unseen = population.positives.iter().filter(|&&positives| positives == 0).count();
    if unseen > 0 {
        context.console.line(format_args!(
            "{} of {} labels have no positive instance here; they take no part in the search",
            count(unseen as u64),
            count(population.positives.len() as u64)
        ));
    }
}

/// A line for every step.
pub(super) struct Shown<'c> {
    console: &'c Console,
    before: f64,
}

impl<'c> Shown<'c> {
    pub fn new(console: &'c Console) -> Shown<'c> {
        Shown { console, before: 0.0 }
    }
}

impl Observer for Shown<'_> {
    fn began(&mut self, state: &State, resumed: bool) {
        let steps = state.trajectory.len();
        if resumed {
            self.console.line(format_args!("going on after iteration {steps}"));
        }
        self.console.line("iteration       utility         gain       step          gap      time");
        self.console.line(format_args!("{steps:>9}  {:>12.8}", state.utility));
        self.before = state.utility;
    }

    fn stepped(&mut self, state: &State) {
        if let Some(done) = state.trajectory.last() {
            self.console.line(iteration_line(state.trajectory.len(), self.before, done));
            self.before = done.utility;
        }
    }

    fn warn(&mut self, text: &str) {
        self.console.warn(text);
    }
}

fn iteration_line(number: usize, before: f64, done: &Iteration) -> String {
    format!(
        "{number:>9}  {:>12.8}  {:>+11.2e}  {:>9.6}  {:>+11.2e}  {:>8}",
        done.utility,
        done.utility - before,
        done.step,
        done.gap,
        seconds(done.seconds)
    )
}

/// What came of it.
pub(super) fn result(context: &Context<'_>, ready: &Ready<'_>, fit: &Fit, phases: &Phases) {
    let console = &context.console;
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let steps = fit.trajectory.len();
    console.line(format_args!("stopped after {steps} step{}: {}", plural(steps), fit.stopped.explain()));
    let rules = fit.mixture.rules.len();
    console.line(format_args!(
        "{} = {:.8} with {rules} rule{} (started from {:.8})",
        ready.typed.metric,
        fit.utility,
        plural(rules),
        fit.initial_utility,
    ));
    console.wrote(&ready.out);
    console.line("");
    console.line(phases.table());
}
