//! Running the steps of an experiment.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::plan::ExperimentPlan;
use super::record::{OutputFile, Record};
use super::results::{ClassifierResult, Results};
use super::state::StepState;
use super::step::{Action, ExperimentStep};
use super::step_runner::StepRunner;
use super::{Experiment, RunContext};
use crate::error::{Error, Result};
use crate::evaluate::Summary;
use crate::fault;
use crate::format::{count_noun, format_seconds};
use crate::job::StopControl;
use crate::progress::Progress;
use crate::world::World;

/// Runs the steps that no earlier run has finished, in order, and records each. Rank 0 gets the results. Collective.
///
/// When `control` requests a stop, it stops between two steps or within a fit, and the error has the status
/// [`Stopped`](crate::error::ExitStatus::Stopped).
pub fn run_experiment(
    context: RunContext<'_>,
    experiment: &Experiment,
    mut plan: ExperimentPlan,
) -> Result<Results> {
    let RunContext { world, console, folder, control } = context;
    let mut hashes = std::mem::take(&mut plan.hashes);
    let mut results: Vec<Value> = plan.states.into_iter().map(StepState::into_result).collect();
    let mut runner = StepRunner::new(context, experiment, plan.reuse);
    let mut longest = Duration::ZERO;
    world.on_root(|| hashes.save(&folder.hash_cache_file()))?;
    let to_do: Vec<usize> = (0..plan.steps.len()).filter(|&at| plan.to_do[at]).collect();
    console.started("steps", to_do.len() as u64, 0);
    for (done, &at) in to_do.iter().enumerate() {
        let step = &plan.steps[at];
        fault::inject(world.rank(), "step")?;
        stop_if_requested(world, control, longest, at)?;
        let start = Instant::now();
        let (result, text) = runner.run_step(step, most_rules(&results))?;
        let taken = start.elapsed();
        world.on_root(|| {
            // The inputs must still be those that the step's facts describe.
            hashes.check_unchanged()?;
            let output = match folder.output_file(&step.action) {
                Some(path) => {
                    let (bytes, content) = hashes.output_hash(&path)?;
                    Some(OutputFile { bytes, content })
                }
                None => None,
            };
            let (facts, found) = (step.fingerprint.clone(), result.clone());
            let record = Record { facts, output, found, seconds: taken.as_secs_f64() };
            record.write(&folder.record_file(&step.action))?;
            results[at] = result;
            Ok(())
        })?;
        runner.remove_finished_checkpoint();
        if step.action.runs_to_end() {
            longest = longest.max(taken);
        }
        let (all, width, time) =
            (to_do.len(), to_do.len().to_string().len(), format_seconds(taken.as_secs_f64()));
        let name = step.action.description();
        console.line(format_args!("[{:>width$}/{all}] {name}: {text}, {time}", done + 1));
        console.advanced(1);
    }
    console.finished();
    world.on_root(|| hashes.save(&folder.hash_cache_file()))?;
    Ok(collect_results(experiment, &plan.steps, &results))
}

/// Stops before step `next` when requested. A step that cannot be interrupted takes up to `longest`. Collective.
fn stop_if_requested(world: &World, control: &StopControl, longest: Duration, next: usize) -> Result<()> {
    let Some(reason) = control.stop_requested(world, longest) else { return Ok(()) };
    let steps = count_noun(next, "step");
    world.agree(Err(Error::Stopped(format!("{reason}: stopped after {steps}; their results are kept"))))
}

/// Returns the most rules of any classifier made so far. On rank 0.
fn most_rules(results: &[Value]) -> u64 {
    results.iter().filter_map(|result| result["rules"].as_u64()).max().unwrap_or(1)
}

/// Combines the results of the steps of each classifier.
fn collect_results(experiment: &Experiment, steps: &[ExperimentStep], results: &[Value]) -> Results {
    let of = |action: Action| results.get(steps.iter().position(|step| step.action == action)?);
    let classifiers = experiment.classifier_specs().into_iter().filter_map(|spec| {
        let classifier = of(Action::MakeClassifier(spec.clone()))?.as_object().cloned().unwrap_or_default();
        let evaluation = of(Action::Evaluate(spec.clone()))?;
        let whole = |name: &str| evaluation[name].as_u64().unwrap_or_default();
        let metrics = evaluation["metrics"].as_array().into_iter().flatten().map(metric_from_json).collect();
        Some(ClassifierResult { spec, classifier, shape: (whole("n"), whole("m")), metrics })
    });
    let (columns, draws) = (experiment.columns.clone(), experiment.evaluate.evaluation.draws());
    Results { classifiers: classifiers.collect(), columns, draws }
}

/// Reads a metric from the JSON of an evaluation step, where NaN is null.
fn metric_from_json(value: &Value) -> (String, Summary) {
    let number = |name: &str| value[name].as_f64().unwrap_or(f64::NAN);
    let name = value["name"].as_str().unwrap_or_default().to_owned();
    (name, Summary { mean: number("mean"), std: number("std") })
}
