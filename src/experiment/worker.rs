//! The work of one step, on all ranks.

use serde_json::{Value, json};

use super::divide::divide;
use super::fitting::{Fitting, for_evaluation, load};
use super::plan::Again;
use super::step::{Part, Step, Work};
use super::subject::{Subject, Way};
use super::watcher::{Warner, Watcher};
use super::{Data as Sample, Experiment, Site, Target};
use crate::classifier::{Mixture, Strategy, baseline};
use crate::classifier_file::{ClassifierFile, broadcast};
use crate::error::Result;
use crate::evaluate::{Propensities, Summary};
use crate::format::count;
use crate::load::{load_labels, total_positives};
use crate::measure::{Metric, monotone};
use crate::optimize::{Data, Existing, Finished, Fit, Initial, Keep, Origin, Task, fit};
use crate::shard::Shard;
use crate::store::Overwrite;

/// What was found, and the same for people; both on rank 0 only.
pub(super) type Outcome = Result<(Value, String)>;

/// Does one step after the other, and keeps what several of them need.
pub(super) struct Worker<'a> {
    site: Site<'a>,
    experiment: &'a Experiment,
    again: Again,
    fitting: Option<Fitting>,
    /// The fit of the last step, until that is on record.
    finished: Option<Finished>,
    test: Option<Shard>,
    /// Positive instances of each label, and instances, for priors and propensities.
    counts: Option<(Vec<u64>, u64)>,
    /// Metrics that were warned of.
    warned: Vec<String>,
}

impl<'a> Worker<'a> {
    pub fn new(site: Site<'a>, experiment: &'a Experiment, again: Again) -> Worker<'a> {
        let (fitting, finished, test, counts, warned) = (None, None, None, None, Vec::new());
        Worker { site, experiment, again, fitting, finished, test, counts, warned }
    }

    /// Does a step. `most_rules` is what the largest classifier that is to be evaluated has; rank 0's counts.
    /// Collective.
    pub fn work(&mut self, step: &Step, most_rules: u64) -> Outcome {
        match &step.work {
            Work::Make(part) => self.make(*part),
            Work::Find(subject) => match &subject.way {
                Way::Baseline(strategy) => self.baseline(subject, *strategy),
                Way::FrankWolfe { metric, target, .. } => self.fit(step, subject, *target, metric),
            },
            Work::Evaluate(subject) => self.evaluate(subject, most_rules),
        }
    }

    fn make(&mut self, part: Part) -> Outcome {
        let data = match part {
            Part::Fit => &self.experiment.fit,
            Part::Test => &self.experiment.test,
        };
        let sample = match data {
            Sample::Made(sample) => sample,
            Sample::Divided(divided) => return divide(self.site, divided, part),
            Sample::Files(_) => unreachable!("only made data has a step that makes it"),
        };
        let made = sample.make(self.site.world, |_| ());
        sample.write(self.site.world, &made, &self.site.folder.made(part), Overwrite::Replace)?;
        let (n, m) = (sample.shape.instances, sample.shape.labels);
        let said = format!("{} instances x {} labels", count(n), count(m.into()));
        Ok((json!({ "n": n, "m": m }), said))
    }

    fn baseline(&mut self, subject: &Subject, strategy: Strategy) -> Outcome {
        let baselines = self.experiment.baselines;
        let (positives, rows) = self.counts()?.clone();
        let rule = baseline(strategy, &positives, rows, baselines.constants);
        let mixture = Mixture::single(rule, subject.k, baselines.candidates);
        let file = ClassifierFile::of_baseline(strategy, mixture, positives, rows);
        ClassifierFile::write(
            Some(&file),
            self.site.world,
            &self.site.folder.classifier(subject),
            Overwrite::Replace,
        )?;
        Ok((json!({ "rules": 1 }), "one rule".into()))
    }

    fn fit(&mut self, step: &Step, subject: &Subject, target: Target, metric: &Metric) -> Outcome {
        let (Site { world, console, folder, .. }, experiment) = (self.site, self.experiment);
        let seed = subject.seed().unwrap_or_default();
        let (initial, keep) = (self.initial(seed)?, self.keep(step, subject));
        if self.fitting.is_none() {
            let files = experiment.fit.files(folder, Part::Fit);
            self.fitting = Some(Fitting::load(world, console, &files, &experiment.targets)?);
        }
        let fitting = self.fitting.as_mut().expect("just loaded");
        let data = Data::new(world, fitting.by(target));
        let options = experiment.search.options(subject.k, data.shard.total_rows);
        if !self.warned.iter().any(|known| known == metric.text()) {
            self.warned.push(metric.text().to_owned());
            let objective = metric.bind(subject.k, options.epsilon);
            monotone::warnings(&objective).iter().for_each(|text| console.warn(text));
        }
        let task = Task { data: &data, metric, initial, options };
        let made_from = task.facts();
        let mut watcher = Watcher::new(console, subject);
        let finished = fit(world, task, Some(&keep), self.site.control, &mut watcher)?;
        let file = finished
            .fit
            .as_ref()
            .map(|fit| ClassifierFile::of_fit(fit, metric, seed, &data.population, &made_from));
        ClassifierFile::write(file.as_ref(), world, &folder.classifier(subject), Overwrite::Replace)?;
        let outcome = finished.fit.as_ref().map(told).unwrap_or_default();
        self.finished = Some(finished);
        Ok(outcome)
    }

    /// Where the fit of a step keeps how far it has come. Checkpoints of other options are of no use any more.
    fn keep(&self, step: &Step, subject: &Subject) -> Keep {
        let file = self.site.folder.checkpoint(subject, &step.identity);
        if self.site.world.is_root() {
            self.site.folder.remove_checkpoints(subject, |path| path != file);
        }
        let existing = match self.again {
            Again::WhatChanged => Existing::Resume,
            Again::Everything => Existing::Replace,
        };
        Keep { file, every: 1, existing }
    }

    /// The last step is on record: its checkpoint is needed no more.
    pub fn settled(&mut self) {
        if let Some(mut finished) = self.finished.take() {
            finished.remove_checkpoint(&mut Warner(self.site.console));
        }
    }

    fn initial(&self, seed: u64) -> Result<Initial> {
        Ok(match &self.experiment.search.origin {
            Origin::TopK => Initial::TopK,
            Origin::Random => Initial::Random { seed },
            Origin::Prior => Initial::Prior,
            Origin::File(path) => {
                Initial::Given(broadcast(self.site.world, self.on_root(|| Ok(ClassifierFile::read(path)?))?))
            }
        })
    }

    fn evaluate(&mut self, subject: &Subject, most_rules: u64) -> Outcome {
        let (Site { world, console, folder, .. }, experiment) = (self.site, self.experiment);
        // Fits are done before the first evaluation: their rows make room for those.
        self.fitting = None;
        let (positives, rows) = self.counts()?;
        let propensities =
            Propensities::new(positives, *rows, experiment.propensity.0, experiment.propensity.1);
        if self.test.is_none() {
            let mut most_rules = vec![most_rules];
            world.broadcast(&mut most_rules);
            let extra = for_evaluation(most_rules[0]);
            self.test = Some(load(world, console, &experiment.test.files(folder, Part::Test), extra)?);
        }
        let shard = self.test.as_ref().expect("just loaded");
        let mixture =
            broadcast(world, self.on_root(|| Ok(ClassifierFile::read(&folder.classifier(subject))?))?);
        let summary = experiment.evaluation.summary(world, shard, &mixture, &propensities, |_| ())?;
        let metrics: Vec<Value> = summary
            .iter()
            .map(|(name, Summary { mean, std })| json!({ "name": name, "mean": mean, "std": std }))
            .collect();
        let shown = subject.metric().unwrap_or("instance-precision");
        let value = summary.iter().find(|metric| metric.0 == shown).map_or(f64::NAN, |metric| metric.1.mean);
        let found = json!({ "n": shard.total_rows, "m": shard.labels(), "metrics": metrics });
        Ok((found, format!("{shown} = {value:.4}")))
    }

    /// Label counts for priors and propensities. Collective.
    fn counts(&mut self) -> Result<&(Vec<u64>, u64)> {
        if self.counts.is_none() {
            let location = self.experiment.counted(self.site.folder);
            let (_, rows, labels) = load_labels(self.site.world, &location)?;
            self.counts = Some((total_positives(self.site.world, &labels, rows), rows));
        }
        Ok(self.counts.as_ref().expect("just counted"))
    }

    /// What rank 0 makes of it; all ranks learn whether it succeeded.
    fn on_root<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let made = if self.site.world.is_root() { work().map(Some) } else { Ok(None) };
        self.site.world.agree(made)
    }
}

/// What is told of a fit.
fn told(fit: &Fit) -> (Value, String) {
    let rules = fit.mixture.rules.len();
    let said = format!("{:.8} with {rules} rule{}", fit.utility, if rules == 1 { "" } else { "s" });
    let found = json!({
        "rules": rules,
        "utility": fit.utility,
        "iterations": fit.trajectory.len(),
        "passes": fit.passes,
        "stopped": fit.stopped,
    });
    (found, said)
}
