//! Output of a run.

use serde_json::{Value, json};

use crate::cli::common::Context;
use crate::error::Result;
use crate::experiment::{ExperimentPlan, Folder, Results, StepState};
use crate::report::{Phases, Table};

/// Prints every step and its state. Collective.
pub(super) fn print_steps(context: &Context<'_>, plan: &ExperimentPlan) -> Result<()> {
    let state = |state: &StepState| match state {
        StepState::Done(_) => "done".to_owned(),
        StepState::ToDo(reason) => reason.to_string(),
    };
    let states: Vec<String> = plan.states.iter().map(state).collect();
    let mut table = Table::new(&["step", "state"]);
    for (step, state) in plan.steps.iter().zip(&states) {
        table.row([step.action.description(), state.clone()]);
    }
    context.console.table(&table);
    context.console.json(context.world, || {
        let steps = plan.steps.iter().zip(&states);
        let steps: Vec<Value> =
            steps.map(|(step, state)| json!({ "step": step.action.file_stem(), "state": state })).collect();
        json!({ "steps": steps })
    })
}

/// Prints the results.
pub(super) fn print_results(context: &Context<'_>, folder: &Folder, results: &Results, phases: &Phases) {
    let console = &context.console;
    console.phases(phases);
    console.line("");
    console.line(results.text());
    let gains = results.gains_text();
    if !gains.is_empty() {
        console.line(gains);
    }
    console.line(format_args!("wrote {}, .csv and .md", folder.results_file("json").display()));
}

/// The results as JSON. `steps` counts all steps, and those reused from earlier runs.
pub(super) fn json_summary(
    context: &Context<'_>,
    results: &Results,
    steps: (usize, usize),
    phases: &Phases,
) -> Value {
    let mut facts = results.json();
    facts["steps"] = json!({ "all": steps.0, "done_before": steps.1 });
    facts["ranks"] = json!(context.world.size());
    facts["threads"] = json!(context.threads);
    facts["seconds"] = phases.json(&["plan", "steps", "write"]);
    facts["peak_rss_bytes"] = json!(phases.peak());
    facts
}
