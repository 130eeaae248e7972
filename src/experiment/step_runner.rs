//! The work of one step, on all ranks.

use serde_json::{Value, json};

use super::classifier_spec::{ClassifierMethod, ClassifierSpec};
use super::fit_progress::{FitProgress, WarningPrinter};
use super::fit_rows::{FitRows, evaluation_memory, load_rows};
use super::plan::ReusePolicy;
use super::split_step::write_split_part;
use super::step::{Action, ExperimentStep, FitOrTest};
use super::{DataSource, Experiment, FitTarget, RunContext};
use crate::classifier::{BaselineStrategy, Mixture, baseline_rule};
use crate::classifier_file::{ClassifierFile, broadcast};
use crate::error::Result;
use crate::evaluate::{InversePropensities, Summary};
use crate::format::format_count;
use crate::load::{load_labels, total_positives};
use crate::measure::{Metric, monotone};
use crate::optimize::{
    CheckpointPolicy, ExistingCheckpoint, FinishedFit, FitData, FitProblem, FitResult, InitialClassifier,
    InitialSource, fit,
};
use crate::shard::Shard;
use crate::store::Overwrite;

/// What was found, and the same for people; both on rank 0 only.
pub(super) type StepOutcome = Result<(Value, String)>;

/// Does one step after the other, and keeps what several of them need.
pub(super) struct StepRunner<'a> {
    context: RunContext<'a>,
    experiment: &'a Experiment,
    reuse: ReusePolicy,
    fit_rows: Option<FitRows>,
    /// The fit of the last step, until that is on record.
    finished: Option<FinishedFit>,
    test: Option<Shard>,
    /// Positive instances of each label, and instances, for priors and propensities.
    counts: Option<(Vec<u64>, u64)>,
    /// Metrics that were warned of.
    warned: Vec<String>,
}

impl<'a> StepRunner<'a> {
    pub fn new(context: RunContext<'a>, experiment: &'a Experiment, reuse: ReusePolicy) -> StepRunner<'a> {
        let (fit_rows, finished, test, counts, warned) = (None, None, None, None, Vec::new());
        StepRunner { context, experiment, reuse, fit_rows, finished, test, counts, warned }
    }

    /// Does a step. `most_rules` is what the largest classifier that is to be evaluated has; rank 0's counts.
    /// Collective.
    pub fn run_step(&mut self, step: &ExperimentStep, most_rules: u64) -> StepOutcome {
        match &step.action {
            Action::MakeData(part) => self.make_data(*part),
            Action::MakeClassifier(spec) => match &spec.method {
                ClassifierMethod::Baseline(strategy) => self.baseline(spec, *strategy),
                ClassifierMethod::FrankWolfe { metric, target, .. } => self.fit(step, spec, *target, metric),
            },
            Action::Evaluate(spec) => self.evaluate(spec, most_rules),
        }
    }

    fn make_data(&mut self, part: FitOrTest) -> StepOutcome {
        let data = match part {
            FitOrTest::Fit => &self.experiment.fit,
            FitOrTest::Test => &self.experiment.test,
        };
        let sample = match data {
            DataSource::Synthetic(sample) => sample,
            DataSource::Split(split_file) => return write_split_part(self.context, split_file, part),
            DataSource::Files(_) => unreachable!("only made data has a step that makes it"),
        };
        let made = sample.generate(self.context.world, |_| ());
        sample.write(self.context.world, &made, &self.context.folder.data_file(part), Overwrite::Replace)?;
        let (n, m) = (sample.shape.instances, sample.shape.labels);
        let said = format!("{} instances x {} labels", format_count(n), format_count(m.into()));
        Ok((json!({ "n": n, "m": m }), said))
    }

    fn baseline(&mut self, spec: &ClassifierSpec, strategy: BaselineStrategy) -> StepOutcome {
        let baselines = self.experiment.baselines;
        let (positives, rows) = self.label_counts()?.clone();
        let rule = baseline_rule(strategy, &positives, rows, baselines.constants);
        let mixture = Mixture::single(rule, spec.k, baselines.candidates);
        let file = ClassifierFile::of_baseline(strategy, mixture, positives, rows);
        ClassifierFile::write(
            Some(&file),
            self.context.world,
            &self.context.folder.classifier_file(spec),
            Overwrite::Replace,
        )?;
        Ok((json!({ "rules": 1 }), "one rule".into()))
    }

    fn fit(
        &mut self,
        step: &ExperimentStep,
        spec: &ClassifierSpec,
        target: FitTarget,
        metric: &Metric,
    ) -> StepOutcome {
        let (RunContext { world, console, folder, .. }, experiment) = (self.context, self.experiment);
        let seed = spec.seed().unwrap_or_default();
        let (initial, checkpoint_policy) = (self.initial(seed)?, self.checkpoint_policy(step, spec));
        if self.fit_rows.is_none() {
            let files = experiment.fit.files(folder, FitOrTest::Fit);
            self.fit_rows = Some(FitRows::load(world, console, &files, &experiment.targets)?);
        }
        let fit_rows = self.fit_rows.as_mut().expect("just loaded");
        let data = FitData::new(world, fit_rows.counted_by(target));
        let options = experiment.search.options(spec.k, data.shard.total_rows);
        if !self.warned.iter().any(|known| known == metric.text()) {
            self.warned.push(metric.text().to_owned());
            let objective = metric.bind(spec.k, options.epsilon);
            monotone::warnings(&objective).iter().for_each(|text| console.warn(text));
        }
        let problem = FitProblem { data: &data, metric, initial, options };
        let made_from = problem.fingerprint();
        let mut progress = FitProgress::new(console, spec);
        let finished = fit(world, problem, Some(&checkpoint_policy), self.context.control, &mut progress)?;
        let file = finished
            .fit
            .as_ref()
            .map(|fit| ClassifierFile::of_fit(fit, metric, seed, &data.population, &made_from));
        ClassifierFile::write(file.as_ref(), world, &folder.classifier_file(spec), Overwrite::Replace)?;
        let outcome = finished.fit.as_ref().map(fit_outcome).unwrap_or_default();
        self.finished = Some(finished);
        Ok(outcome)
    }

    /// Where the fit of a step keeps how far it has come. Checkpoints of other options are of no use any more.
    fn checkpoint_policy(&self, step: &ExperimentStep, spec: &ClassifierSpec) -> CheckpointPolicy {
        let file = self.context.folder.checkpoint(spec, &step.fingerprint_hash);
        if self.context.world.is_root() {
            self.context.folder.remove_checkpoints(spec, |path| path != file);
        }
        let existing = match self.reuse {
            ReusePolicy::ReuseUnchanged => ExistingCheckpoint::Resume,
            ReusePolicy::RedoAll => ExistingCheckpoint::Replace,
        };
        CheckpointPolicy { file, interval: 1, existing }
    }

    /// The last step is on record: its checkpoint is needed no more.
    pub fn remove_finished_checkpoint(&mut self) {
        if let Some(mut finished) = self.finished.take() {
            finished.remove_checkpoint(&mut WarningPrinter(self.context.console));
        }
    }

    fn initial(&self, seed: u64) -> Result<InitialClassifier> {
        Ok(match &self.experiment.search.initial {
            InitialSource::TopK => InitialClassifier::TopK,
            InitialSource::Random => InitialClassifier::Random { seed },
            InitialSource::Prior => InitialClassifier::Prior,
            InitialSource::File(path) => InitialClassifier::Given(broadcast(
                self.context.world,
                self.on_root(|| Ok(ClassifierFile::read(path)?))?,
            )),
        })
    }

    fn evaluate(&mut self, spec: &ClassifierSpec, most_rules: u64) -> StepOutcome {
        let (RunContext { world, console, folder, .. }, experiment) = (self.context, self.experiment);
        // Fits are done before the first evaluation: their rows make room for those.
        self.fit_rows = None;
        let (positives, rows) = self.label_counts()?;
        let propensities =
            InversePropensities::new(positives, *rows, experiment.propensity.0, experiment.propensity.1);
        if self.test.is_none() {
            let mut most_rules = vec![most_rules];
            world.broadcast(&mut most_rules);
            let extra = evaluation_memory(most_rules[0]);
            self.test =
                Some(load_rows(world, console, &experiment.test.files(folder, FitOrTest::Test), extra)?);
        }
        let shard = self.test.as_ref().expect("just loaded");
        let mixture =
            broadcast(world, self.on_root(|| Ok(ClassifierFile::read(&folder.classifier_file(spec))?))?);
        let summary = experiment.evaluation.summary(world, shard, &mixture, &propensities, |_| ())?;
        let metrics: Vec<Value> = summary
            .iter()
            .map(|(name, Summary { mean, std })| json!({ "name": name, "mean": mean, "std": std }))
            .collect();
        let shown = spec.metric().unwrap_or("instance-precision");
        let value = summary.iter().find(|metric| metric.0 == shown).map_or(f64::NAN, |metric| metric.1.mean);
        let found = json!({ "n": shard.total_rows, "m": shard.labels(), "metrics": metrics });
        Ok((found, format!("{shown} = {value:.4}")))
    }

    /// Label counts for priors and propensities. Collective.
    fn label_counts(&mut self) -> Result<&(Vec<u64>, u64)> {
        if self.counts.is_none() {
            let location = self.experiment.label_count_source(self.context.folder);
            let (_, rows, labels) = load_labels(self.context.world, &location)?;
            self.counts = Some((total_positives(self.context.world, &labels, rows), rows));
        }
        Ok(self.counts.as_ref().expect("just counted"))
    }

    /// What rank 0 makes of it; all ranks learn whether it succeeded.
    fn on_root<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let made = if self.context.world.is_root() { work().map(Some) } else { Ok(None) };
        self.context.world.agree(made)
    }
}

/// What is told of a fit.
fn fit_outcome(fit: &FitResult) -> (Value, String) {
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
