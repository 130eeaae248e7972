//! The work of one step, on all ranks.

use serde_json::{Value, json};

use super::classifier_spec::{ClassifierMethod, ClassifierSpec, FitSpec};
use super::fit_rows::{FitRows, load_rows};
use super::plan::ReusePolicy;
use super::split_step::write_split_part;
use super::step::{Action, ExperimentStep, FitOrTest};
use super::{BaselineSettings, DataSource, Experiment, RunContext};
use crate::checkpoint::{CheckpointPolicy, CheckpointSession, ExistingCheckpoint};
use crate::classifier::BaselineStrategy;
use crate::error::Result;
use crate::evaluate::Summary;
use crate::format::{count_noun, format_count};
use crate::load::LabelCounts;
use crate::optimize::{FitData, FitResult};
use crate::pipeline::{BaselineRequest, FitRequest, Subject, read_classifier, scoring_memory};
use crate::report::PartDisplay;
use crate::shard::Shard;
use crate::store::Overwrite;

/// The result of a step as JSON and as text; both on rank 0 only.
pub(super) type StepOutcome = Result<(Value, String)>;

/// Runs steps in order and keeps what several of them need.
pub(super) struct StepRunner<'a> {
    context: RunContext<'a>,
    experiment: &'a Experiment,
    reuse: ReusePolicy,
    fit_rows: Option<FitRows>,
    /// The checkpoint of the last step, until its result is recorded.
    checkpoint: Option<(CheckpointSession<'a>, PartDisplay<'a>)>,
    test: Option<Shard>,
    counts: Option<LabelCounts>,
    /// Metrics whose warnings have been printed.
    warned: Vec<String>,
}

impl<'a> StepRunner<'a> {
    pub fn new(context: RunContext<'a>, experiment: &'a Experiment, reuse: ReusePolicy) -> StepRunner<'a> {
        let (fit_rows, checkpoint, test, counts, warned) = (None, None, None, None, Vec::new());
        StepRunner { context, experiment, reuse, fit_rows, checkpoint, test, counts, warned }
    }

    /// Runs a step. `most_rules`, of rank 0, is the size of the largest classifier to evaluate. Collective.
    pub fn run_step(&mut self, step: &ExperimentStep, most_rules: u64) -> StepOutcome {
        match &step.action {
            Action::MakeData(part) => self.make_data(*part),
            Action::MakeClassifier(spec) => match &spec.method {
                ClassifierMethod::Baseline(strategy) => self.baseline(spec, *strategy),
                ClassifierMethod::FrankWolfe(fit) => self.fit(step, spec, fit),
            },
            Action::Evaluate(spec) => self.evaluate(spec, most_rules),
        }
    }

    fn make_data(&mut self, part: FitOrTest) -> StepOutcome {
        let RunContext { world, folder, .. } = self.context;
        let data = match part {
            FitOrTest::Fit => &self.experiment.fit,
            FitOrTest::Test => &self.experiment.test,
        };
        let sample = match data {
            DataSource::Synthetic(sample) => sample,
            DataSource::Split(split_file) => return write_split_part(self.context, split_file, part),
            DataSource::Files(_) => unreachable!("data files have no step"),
        };
        let made = sample.generate(world, &());
        sample.write(world, &made, &folder.data_file(part), Overwrite::Replace)?;
        let (n, m) = (sample.shape.instances, sample.shape.labels);
        let text = format!("{} instances x {} labels", format_count(n), format_count(m.into()));
        Ok((json!({ "n": n, "m": m }), text))
    }

    fn baseline(&mut self, spec: &ClassifierSpec, strategy: BaselineStrategy) -> StepOutcome {
        let RunContext { world, folder, .. } = self.context;
        let BaselineSettings { constants, candidates } = self.experiment.baselines;
        let request = BaselineRequest {
            strategy,
            k: spec.k,
            constants,
            candidates,
            labels: self.experiment.label_count_source(folder),
            out: folder.classifier_file(spec),
            overwrite: Overwrite::Replace,
        };
        request.run(world, self.label_counts()?)?;
        Ok((json!({ "rules": 1 }), "one rule".into()))
    }

    fn fit(&mut self, step: &ExperimentStep, spec: &ClassifierSpec, fit: &FitSpec) -> StepOutcome {
        let FitSpec { metric, target, seed } = fit;
        let (RunContext { world, console, folder, control }, experiment) = (self.context, self.experiment);
        let request = FitRequest {
            load: experiment.fit.files(folder, FitOrTest::Fit),
            k: spec.k,
            metric: metric.clone(),
            search: experiment.search.clone(),
            seed: seed.unwrap_or_default(),
            out: folder.classifier_file(spec),
            overwrite: Overwrite::Replace,
            checkpoint_policy: Some(self.checkpoint_policy(step, spec)),
        };
        let initial = request.load_initial(world)?;
        if self.fit_rows.is_none() {
            self.fit_rows = Some(FitRows::load(world, console, &request.load, &experiment.targets)?);
        }
        let shard = self.fit_rows.as_mut().expect("just loaded").counted_by(*target);
        world.agree(request.check_labels(&initial, shard.labels()))?;
        if !self.warned.iter().any(|known| known == metric.text()) {
            self.warned.push(metric.text().to_owned());
            request.metric_warnings(shard.total_rows).iter().for_each(|text| console.warn(text));
        }
        let data = FitData::new(world, shard);
        let problem = request.problem(&data, initial);
        let progress = PartDisplay::new(console, spec.description());
        let finished = request.run(world, problem, control, &progress, || ())?;
        self.checkpoint = Some((finished.session, progress));
        Ok(finished.fit.as_ref().map(fit_outcome).unwrap_or_default())
    }

    /// Returns the checkpoint of a step, and removes those made with other options.
    fn checkpoint_policy(&self, step: &ExperimentStep, spec: &ClassifierSpec) -> CheckpointPolicy {
        let file = self.context.folder.checkpoint(spec, &step.fingerprint_hash);
        if self.context.world.is_root() {
            self.context.folder.remove_other_checkpoints(spec, &file);
        }
        let existing = match self.reuse {
            ReusePolicy::ReuseUnchanged => ExistingCheckpoint::Resume,
            ReusePolicy::RedoAll => ExistingCheckpoint::Replace,
        };
        CheckpointPolicy { file, interval: 1, existing }
    }

    /// Removes the checkpoint of the last step, once its result is recorded.
    pub fn remove_finished_checkpoint(&mut self) {
        if let Some((mut session, progress)) = self.checkpoint.take() {
            session.remove(&progress);
        }
    }

    fn evaluate(&mut self, spec: &ClassifierSpec, most_rules: u64) -> StepOutcome {
        let (RunContext { world, console, folder, .. }, experiment) = (self.context, self.experiment);
        // All fits precede the first evaluation, so their rows can be freed.
        self.fit_rows = None;
        self.label_counts()?;
        if self.test.is_none() {
            let most_rules = world.broadcast_json(world.is_root().then_some(most_rules));
            let files = experiment.test.files(folder, FitOrTest::Test);
            self.test = Some(load_rows(world, console, &files, scoring_memory(most_rules))?);
        }
        let shard = self.test.as_ref().expect("just loaded");
        let counts = self.counts.as_ref().expect("just counted");
        let subject = Subject::Classifier(read_classifier(world, &folder.classifier_file(spec))?);
        let summary = experiment.evaluate.run(world, shard, &subject, counts, &())?;
        let metrics: Vec<Value> = summary
            .iter()
            .map(|(name, Summary { mean, std })| json!({ "name": name, "mean": mean, "std": std }))
            .collect();
        let shown = spec.fit().map_or("instance-precision", |fit| fit.metric.text());
        let value = summary.iter().find(|metric| metric.0 == shown).map_or(f64::NAN, |metric| metric.1.mean);
        let result = json!({ "n": shard.total_rows, "m": shard.labels(), "metrics": metrics });
        Ok((result, format!("{shown} = {value:.4}")))
    }

    /// Returns the label counts for priors and propensities. Collective.
    fn label_counts(&mut self) -> Result<&LabelCounts> {
        if self.counts.is_none() {
            let location = self.experiment.label_count_source(self.context.folder);
            self.counts = Some(LabelCounts::load(self.context.world, &location)?);
        }
        Ok(self.counts.as_ref().expect("just counted"))
    }
}

fn fit_outcome(fit: &FitResult) -> (Value, String) {
    let rules = fit.mixture.rules.len();
    let text = format!("{:.8} with {}", fit.utility, count_noun(rules, "rule"));
    let result = json!({
        "rules": rules,
        "utility": fit.utility,
        "iterations": fit.trajectory.len(),
        "passes": fit.passes,
        "stopped": fit.end.reason,
    });
    (result, text)
}
