//! Output of a fit.

use crate::classifier::Kernel;
use crate::cli::common::Context;
use crate::format::{count_noun, format_bytes, format_count};
use crate::load::LoadSummary;
use crate::measure::Population;
use crate::optimize::FitResult;
use crate::pipeline::FitRequest;
use crate::report::Phases;

/// Prints the plan of the fit.
pub(super) fn print_plan(context: &Context<'_>, request: &FitRequest, plan: &LoadSummary) {
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
        None => "no labels given: the marginals serve as expected labels".into(),
    });
    context.console.line(format_args!(
        "{} x {} ({} kernel), {} per pass; needs {}",
        count_noun(context.world.size(), "rank"),
        count_noun(context.threads, "thread"),
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
            "labels without a positive instance: {} of {}, excluded from the search",
            format_count(unseen as u64),
            format_count(population.positives.len() as u64)
        ));
    }
}

/// Prints the result.
pub(super) fn print_result(context: &Context<'_>, request: &FitRequest, fit: &FitResult, phases: &Phases) {
    let console = &context.console;
    let reason = fit.end.description(&request.search.options);
    console.line(format_args!("stopped after {}: {reason}", count_noun(fit.trajectory.len(), "step")));
    console.line(format_args!(
        "{} = {:.8} with {} (started from {:.8})",
        request.metric.text(),
        fit.utility,
        count_noun(fit.mixture.rules.len(), "rule"),
        fit.initial_utility,
    ));
    console.wrote(&request.out);
    console.phases(phases);
}
