//! What people see of a fit.

use crate::classifier::Kernel;
use crate::cli::common::Context;
use crate::format::{format_bytes, format_count};
use crate::load::LoadPlan;
use crate::measure::Population;
use crate::optimize::FitResult;
use crate::pipeline::FitRequest;
use crate::report::Phases;

/// The plan, before anything takes long.
pub(super) fn print_plan(context: &Context<'_>, request: &FitRequest, plan: &LoadPlan) {
    let ranks = context.world.size();
    context.console.line(format_args!(
        "{}: {} instances x {} labels, {} stored; k = {}, maximising {}",
        request.load.marginals,
        format_count(plan.rows),
        format_count(plan.labels),
        format_count(plan.entries),
        request.k,
        request.metric.text(),
    ));
    context.console.line(match &request.load.labels {
        Some(labels) => format!("labels from {labels}"),
        None => "no labels given: the marginals stand in as expected labels".into(),
    });
    context.console.line(format_args!(
        "{} rank{} x {} thread{} ({} kernel), {} a pass; needs {}",
        ranks,
        if ranks == 1 { "" } else { "s" },
        context.threads,
        if context.threads == 1 { "" } else { "s" },
        Kernel::fastest().name(),
        format_bytes(plan.bytes_per_pass),
        plan.memory,
    ));
}

pub(super) fn print_warnings(context: &Context<'_>, request: &FitRequest, population: &Population) {
    request.metric_warnings(population.rows).iter().for_each(|warning| context.console.warn(warning));
    let unseen = population.positives.iter().filter(|&&positives| positives == 0).count();
    if unseen > 0 {
        context.console.line(format_args!(
            "{} of {} labels have no positive instance here; they take no part in the search",
            format_count(unseen as u64),
            format_count(population.positives.len() as u64)
        ));
    }
}

/// What came of it.
pub(super) fn print_result(context: &Context<'_>, request: &FitRequest, fit: &FitResult, phases: &Phases) {
    let console = &context.console;
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let steps = fit.trajectory.len();
    let reason = fit.end.description(&request.search.options(request.k, 1));
    console.line(format_args!("stopped after {steps} step{}: {reason}", plural(steps)));
    let rules = fit.mixture.rules.len();
    console.line(format_args!(
        "{} = {:.8} with {rules} rule{} (started from {:.8})",
        request.metric.text(),
        fit.utility,
        plural(rules),
        fit.initial_utility,
    ));
    console.wrote(&request.out);
    console.line("");
    console.line(phases.table());
}
