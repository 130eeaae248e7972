//! Doing the steps of an experiment.

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
use crate::format::format_seconds;
use crate::job::StopControl;
use crate::report::Console;
use crate::world::World;

/// Does what is to be done, in order, and keeps a record of every finished step. What was found is on rank 0.
/// Collective.
///
/// When `control` is asked to stop, it stops after the step at hand, and in the middle of a fit, and the error has the
/// status [`Stopped`](crate::error::ExitStatus::Stopped).
pub fn run_experiment(
    context: RunContext<'_>,
    experiment: &Experiment,
    mut plan: ExperimentPlan,
) -> Result<Results> {
    let RunContext { world, console, folder, control } = context;
    let mut hashes = std::mem::take(&mut plan.hashes);
    let mut found: Vec<Value> = plan.states.into_iter().map(StepState::into_result).collect();
    let mut runner = StepRunner::new(context, experiment, plan.reuse);
    let mut progress = StepLog::new(console, plan.steps.len());
    world.on_root(|| hashes.save(&folder.hash_cache_file()))?;
    for (at, step) in plan.steps.iter().enumerate().filter(|(at, _)| plan.to_do[*at]) {
        fault::inject(world.rank(), "step")?;
        stop_if_asked(world, control, progress.longest, at)?;
        let start = Instant::now();
        let (result, said) = runner.run_step(step, most_rules(&found))?;
        let seconds_taken = start.elapsed().as_secs_f64();
        world.on_root(|| {
            // A result belongs to the data that the step's facts tell of.
            hashes.check_unchanged()?;
            let output = match folder.output_file(&step.action) {
                Some(path) => {
                    let (bytes, content) = hashes.output_hash(&path)?;
                    Some(OutputFile { bytes, content })
                }
                None => None,
            };
            let record = Record {
                facts: step.fingerprint.clone(),
                output,
                found: result.clone(),
                seconds: seconds_taken,
            };
            record.write(&folder.record_file(&step.action))?;
            found[at] = result;
            Ok(())
        })?;
        runner.remove_finished_checkpoint();
        progress.finished(at, &step.action, &said, seconds_taken);
    }
    world.on_root(|| hashes.save(&folder.hash_cache_file()))?;
    Ok(collect_results(experiment, &plan.steps, &found))
}

/// Stops here when that is asked for. A step that cannot stop in the middle takes up to `longest`. Collective.
fn stop_if_asked(world: &World, control: &StopControl, longest: Duration, done: usize) -> Result<()> {
    let Some(reason) = control.stop_requested(world, longest) else { return Ok(()) };
    let steps = if done == 1 { "step" } else { "steps" };
    world.agree(Err(Error::Stopped(format!("{reason}: stopped after {done} {steps}, which are kept"))))
}

/// A line for what takes long; what does not is only counted.
struct StepLog<'c> {
    console: &'c Console,
    total: usize,
    last: Instant,
    /// The longest of the steps that cannot be stopped.
    longest: Duration,
}

impl<'c> StepLog<'c> {
    /// Less than this is not worth a line.
    const QUICK: Duration = Duration::from_secs(1);

    fn new(console: &'c Console, total: usize) -> StepLog<'c> {
        StepLog { console, total, last: Instant::now(), longest: Duration::ZERO }
    }

    fn finished(&mut self, at: usize, action: &Action, said: &str, taken: f64) {
        let is_slow = match action {
            Action::MakeData(_) => true,
            Action::MakeClassifier(spec) => spec.metric().is_some(),
            Action::Evaluate(_) => false,
        };
        if !is_slow {
            self.longest = self.longest.max(Duration::from_secs_f64(taken));
        }
        let is_last = at + 1 == self.total;
        if is_slow || is_last || self.last.elapsed() > StepLog::QUICK {
            self.last = Instant::now();
            let width = self.total.to_string().len();
            let shown = action.description();
            let line =
                format!("[{:>width$}/{}] {shown}: {said}, {}", at + 1, self.total, format_seconds(taken));
            self.console.line(line);
        }
    }
}

/// The most rules of any classifier that is there. On rank 0.
fn most_rules(found: &[Value]) -> u64 {
    found.iter().filter_map(|found| found["rules"].as_u64()).max().unwrap_or(1)
}

/// What was found, by spec.
fn collect_results(experiment: &Experiment, steps: &[ExperimentStep], found: &[Value]) -> Results {
    let of = |action: Action| {
        let at = steps.iter().position(|step| step.action == action)?;
        found.get(at)
    };
    let classifier_specs = experiment.classifier_specs().into_iter();
    let found = classifier_specs.filter_map(|spec| {
        let classifier = of(Action::MakeClassifier(spec.clone()))?.as_object().cloned().unwrap_or_default();
        let evaluation = of(Action::Evaluate(spec.clone()))?;
        let whole = |name: &str| evaluation[name].as_u64().unwrap_or_default();
        let metrics = evaluation["metrics"].as_array().into_iter().flatten().map(metric_from_json).collect();
        Some(ClassifierResult { spec, classifier, shape: (whole("n"), whole("m")), metrics })
    });
    let (columns, draws) = (experiment.columns.clone(), experiment.evaluation.draws());
    Results { classifiers: found.collect(), columns, draws }
}

/// A metric as [`StepRunner`] tells of it. JSON has no number for what is not one.
fn metric_from_json(value: &Value) -> (String, Summary) {
    let number = |name: &str| value[name].as_f64().unwrap_or(f64::NAN);
    let name = value["name"].as_str().unwrap_or_default().to_owned();
    (name, Summary { mean: number("mean"), std: number("std") })
}
