//! The results of a fit as JSON.

use serde_json::json;

use crate::cli::common::Context;
use crate::load::LoadSummary;
use crate::optimize::{FinishedFit, Iteration};
use crate::pipeline::FitRequest;
use crate::report::Phases;
use crate::shard::Shard;

pub(super) fn json_summary(
    context: &Context<'_>,
    request: &FitRequest,
    shard: &Shard,
    finished: &FinishedFit<'_>,
    phases: &Phases,
    plan: &LoadSummary,
) -> serde_json::Value {
    let Some(fit) = &finished.fit else { return serde_json::Value::Null };
    let checkpoints = finished.session.report();
    let column = |value: fn(&Iteration) -> f64| fit.trajectory.iter().map(value).collect::<Vec<_>>();
    let mut utilities = vec![fit.initial_utility];
    utilities.extend(column(|done| done.utility));
    json!({
        "metric": request.metric.text(),
        "k": request.k,
        "n": shard.total_rows,
        "m": shard.labels(),
        "ranks": context.world.size(),
        "threads": context.threads,
        "utility": fit.utility,
        "utilities": utilities,
        "steps": column(|done| done.step),
        "gaps": column(|done| done.gap),
        "gap": fit.gap,
        "rules": fit.mixture.rules.len(),
        "iterations": fit.trajectory.len(),
        "passes": fit.passes,
        "stopped": fit.end.reason,
        "resumed_at": finished.session.resumed(),
        "checkpoints": {
            "written": checkpoints.written,
            "bytes": checkpoints.bytes,
            "seconds_beside": checkpoints.seconds,
        },
        "seconds": {
            "load": phases.seconds("load"),
            "fit": phases.seconds("fit"),
            "oracle": fit.seconds.oracle,
            "reduce": fit.seconds.reduce,
            "gradient": fit.seconds.gradient,
            "search": fit.seconds.search,
            "checkpoint": fit.seconds.checkpoint,
            "total": phases.total(),
        },
        "peak_rss_bytes": phases.peak(),
        "memory_needed_bytes": plan.memory.need,
        "bytes_per_pass": plan.bytes_per_pass,
    })
}
