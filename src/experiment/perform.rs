//! Doing the steps of an experiment.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::plan::Plan;
use super::record::{Output, Record};
use super::results::{Found, Results};
use super::state::State;
use super::step::{Step, Work};
use super::worker::Worker;
use super::{Experiment, Site};
use crate::error::{Error, Result};
use crate::evaluate::Summary;
use crate::fault;
use crate::format::seconds;
use crate::job::Control;
use crate::report::Console;
use crate::world::World;

/// Does what is to be done, in order, and keeps a record of every finished step. What was found is on rank 0.
/// Collective.
///
/// When `control` is asked to stop, it stops after the step at hand, and in the middle of a fit, and the error has the
/// status [`Stopped`](crate::error::Status::Stopped).
pub fn perform(site: Site<'_>, experiment: &Experiment, mut plan: Plan) -> Result<Results> {
    let Site { world, console, folder, control } = site;
    let mut known = std::mem::take(&mut plan.known);
    let mut found: Vec<Value> = plan.states.into_iter().map(State::into_found).collect();
    let mut worker = Worker::new(site, experiment, plan.again);
    let mut progress = Progress::new(console, plan.steps.len());
    world.on_root(|| known.keep(&folder.known_files()))?;
    for (at, step) in plan.steps.iter().enumerate().filter(|(at, _)| plan.to_do[*at]) {
        fault::at(world.rank(), "step")?;
        stop_if_asked(world, control, progress.longest, at)?;
        let start = Instant::now();
        let (result, said) = worker.work(step, most_rules(&found))?;
        let seconds_taken = start.elapsed().as_secs_f64();
        world.on_root(|| {
            // A result belongs to the data that the step's facts tell of.
            known.check_unchanged()?;
            let output = match folder.output(&step.work) {
                Some(path) => {
                    let (bytes, content) = known.own(&path)?;
                    Some(Output { bytes, content })
                }
                None => None,
            };
            let record =
                Record { facts: step.facts.clone(), output, found: result.clone(), seconds: seconds_taken };
            record.write(&folder.record(&step.work))?;
            found[at] = result;
            Ok(())
        })?;
        worker.settled();
        progress.finished(at, &step.work, &said, seconds_taken);
    }
    world.on_root(|| known.keep(&folder.known_files()))?;
    Ok(collect(experiment, &plan.steps, &found))
}

/// Stops here when that is asked for. A step that cannot stop in the middle takes up to `longest`. Collective.
fn stop_if_asked(world: &World, control: &Control, longest: Duration, done: usize) -> Result<()> {
    let Some(reason) = control.asked(world, longest) else { return Ok(()) };
    let steps = if done == 1 { "step" } else { "steps" };
    world.agree(Err(Error::Stopped(format!("{reason}: stopped after {done} {steps}, which are kept"))))
}

/// A line for what takes long; what does not is only counted.
struct Progress<'c> {
    console: &'c Console,
    total: usize,
    last: Instant,
    /// The longest of the steps that cannot be stopped.
    longest: Duration,
}

impl<'c> Progress<'c> {
    /// Less than this is not worth a line.
    const QUICK: Duration = Duration::from_secs(1);

    fn new(console: &'c Console, total: usize) -> Progress<'c> {
        Progress { console, total, last: Instant::now(), longest: Duration::ZERO }
    }

    fn finished(&mut self, at: usize, work: &Work, said: &str, taken: f64) {
        let is_slow = match work {
            Work::Make(_) => true,
            Work::Find(subject) => subject.metric().is_some(),
            Work::Evaluate(_) => false,
        };
        if !is_slow {
            self.longest = self.longest.max(Duration::from_secs_f64(taken));
        }
        let is_last = at + 1 == self.total;
        if is_slow || is_last || self.last.elapsed() > Progress::QUICK {
            self.last = Instant::now();
            let width = self.total.to_string().len();
            let shown = work.shown();
            let line = format!("[{:>width$}/{}] {shown}: {said}, {}", at + 1, self.total, seconds(taken));
            self.console.line(line);
        }
    }
}

/// The most rules of any classifier that is there. On rank 0.
fn most_rules(found: &[Value]) -> u64 {
    found.iter().filter_map(|found| found["rules"].as_u64()).max().unwrap_or(1)
}

/// What was found, by subject.
fn collect(experiment: &Experiment, steps: &[Step], found: &[Value]) -> Results {
    let of = |work: Work| {
        let at = steps.iter().position(|step| step.work == work)?;
        found.get(at)
    };
    let subjects = experiment.subjects().into_iter();
    let found = subjects.filter_map(|subject| {
        let classifier = of(Work::Find(subject.clone()))?.as_object().cloned().unwrap_or_default();
        let evaluation = of(Work::Evaluate(subject.clone()))?;
        let whole = |name: &str| evaluation[name].as_u64().unwrap_or_default();
        let metrics = evaluation["metrics"].as_array().into_iter().flatten().map(metric).collect();
        Some(Found { subject, classifier, shape: (whole("n"), whole("m")), metrics })
    });
    let (columns, draws) = (experiment.columns.clone(), experiment.evaluation.draws());
    Results { found: found.collect(), columns, draws }
}

/// A metric as [`Worker`] tells of it. JSON has no number for what is not one.
fn metric(told: &Value) -> (String, Summary) {
    let number = |name: &str| told[name].as_f64().unwrap_or(f64::NAN);
    let name = told["name"].as_str().unwrap_or_default().to_owned();
    (name, Summary { mean: number("mean"), std: number("std") })
}
