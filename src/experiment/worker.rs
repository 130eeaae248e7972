//! The work of one step, on all ranks.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::classifier::{share, to_file, to_mixture};
use super::fitting::{Fitting, load};
use super::folder::Folder;
use super::step::{Part, Work};
use super::subject::{Subject, Way};
use super::{Data, Epsilon, Experiment, Start, Target};
use crate::classifier::{Mixture, Strategy, baseline};
use crate::error::Result;
use crate::evaluate::{Propensities, Summary};
use crate::measure::{Metric, monotone};
use crate::optimize::{Initial, Options, frank_wolfe};
use crate::report::{Console, count};
use crate::shard::{Extra, Shard, load_labels, total_positives};
use crate::store::{ClassifierFile, Overwrite};
use crate::world::World;

/// What was found, and the same for people; both on rank 0 only.
type Outcome = Result<(Value, String)>;

/// Does one step after the other, and keeps what several of them need.
pub(super) struct Worker<'a> {
    world: &'a World,
    console: &'a Console,
    experiment: &'a Experiment,
    folder: &'a Folder,
    fitting: Option<Fitting>,
    test: Option<Shard>,
    /// Positive instances of each label, and instances, for priors and propensities.
    counts: Option<(Vec<u64>, u64)>,
    /// Metrics that were warned of.
    warned: Vec<String>,
}

impl<'a> Worker<'a> {
    pub fn new(
        world: &'a World,
        console: &'a Console,
        experiment: &'a Experiment,
        folder: &'a Folder,
    ) -> Worker<'a> {
        let (fitting, test, counts, warned) = (None, None, None, Vec::new());
        Worker { world, console, experiment, folder, fitting, test, counts, warned }
    }

    /// Does a step. `most_rules` is what the largest classifier that is to be evaluated has; rank 0's counts.
    /// Collective.
    pub fn work(&mut self, work: &Work, most_rules: u64) -> Outcome {
        match work {
            Work::Make(part) => self.make(*part),
            Work::Find(subject) => match &subject.way {
                Way::Baseline(strategy) => self.baseline(subject, *strategy),
                Way::FrankWolfe { metric, target, seed } => {
                    self.fit(subject, metric, *target, seed.unwrap_or_default())
                }
            },
            Work::Evaluate(subject) => self.evaluate(subject, most_rules),
        }
    }

    fn make(&mut self, part: Part) -> Outcome {
        let data = match part {
            Part::Fit => &self.experiment.fit,
            Part::Test => &self.experiment.test,
        };
        let Data::Made(sample) = data else { unreachable!("only made data has a step that makes it") };
        let made = sample.make(self.world, |_| ());
        sample.write(self.world, &made, &self.folder.made(part), Overwrite::Replace)?;
        let (n, m) = (sample.shape.instances, sample.shape.labels);
        let said = format!("{} instances x {} labels", count(n), count(m.into()));
        Ok((json!({ "n": n, "m": m }), said))
    }

    fn baseline(&mut self, subject: &Subject, strategy: Strategy) -> Outcome {
        let baselines = self.experiment.baselines;
        let (positives, rows) = self.counts()?.clone();
        let rule = baseline(strategy, &positives, rows, baselines.constants);
        let mixture = Mixture::single(rule, subject.k, baselines.candidates);
        let file = ClassifierFile { positives, rows, ..to_file(&mixture, strategy.name(), 0) };
        file.write(self.world, &self.folder.classifier(subject), Overwrite::Replace)?;
        Ok((json!({ "rules": 1 }), "one rule".into()))
    }

    fn fit(&mut self, subject: &Subject, metric: &Metric, target: Target, seed: u64) -> Outcome {
        let Worker { world, console, experiment, folder, .. } = *self;
        let start = self.start(seed)?;
        if self.fitting.is_none() {
            let files = experiment.fit.files(folder, Part::Fit);
            self.fitting = Some(Fitting::load(world, console, &files, &experiment.targets)?);
        }
        let fitting = self.fitting.as_mut().expect("just loaded");
        let (shard, population) = fitting.by(world, target);
        let search = &experiment.search;
        let epsilon = match search.epsilon {
            Epsilon::Fixed(epsilon) => epsilon,
            Epsilon::Smoothing(instances) => instances / shard.total_rows as f64,
        };
        if !self.warned.iter().any(|known| known == metric.text()) {
            self.warned.push(metric.text().to_owned());
            monotone::warnings(&metric.bind(subject.k, epsilon)).iter().for_each(|text| console.warn(text));
        }
        let options = Options {
            k: subject.k,
            epsilon,
            candidates: search.candidates,
            step: search.step,
            max_iterations: search.max_iterations,
            tolerance: search.tolerance,
            min_gain: search.min_gain,
        };
        let mut said = Instant::now();
        let fit = frank_wolfe(world, shard, &population, metric, start, &options, |number, _, done| {
            if said.elapsed() > QUIET {
                said = Instant::now();
                console.line(format_args!("  iteration {number}: {:.8}, gap {:.2e}", done.utility, done.gap));
            }
        })?;
        let labelled = population.unit == 1;
        let file = fit.as_ref().map(|fit| ClassifierFile {
            trajectory: fit.trajectory.clone(),
            positives: if labelled { population.positives.clone() } else { Vec::new() },
            rows: population.rows,
            ..to_file(&fit.mixture, metric.text(), seed)
        });
        file.unwrap_or_default().write(world, &folder.classifier(subject), Overwrite::Replace)?;
        let Some(fit) = fit else { return Ok(Default::default()) };
        let rules = fit.mixture.rules.len();
        let said = format!("{:.8} with {rules} rule{}", fit.utility, if rules == 1 { "" } else { "s" });
        let found = json!({
            "rules": rules,
            "utility": fit.utility,
            "iterations": fit.trajectory.len(),
            "passes": fit.passes,
            "stopped": fit.stopped,
        });
        Ok((found, said))
    }

    fn start(&self, seed: u64) -> Result<Initial> {
        Ok(match &self.experiment.search.start {
            Start::TopK => Initial::TopK,
            Start::Random => Initial::Random { seed },
            Start::Prior => Initial::Prior,
            Start::File(path) => {
                let file = self.on_root(|| Ok(ClassifierFile::read(path)?))?;
                Initial::Given(share(self.world, file.map(|file| to_mixture(&file))))
            }
        })
    }

    fn evaluate(&mut self, subject: &Subject, most_rules: u64) -> Outcome {
        let Worker { world, console, experiment, folder, .. } = *self;
        // Fits are done before the first evaluation: their rows make room for those.
        self.fitting = None;
        let (positives, rows) = self.counts()?;
        let propensities =
            Propensities::new(positives, *rows, experiment.propensity.0, experiment.propensity.1);
        if self.test.is_none() {
            let mut most_rules = vec![most_rules];
            world.broadcast(&mut most_rules);
            // A rule is there as the file has it, as a rule, and as a table.
            let bytes_a_label = 28 * most_rules[0];
            let extra = Extra { bytes_a_count: 16, bytes_a_label, ..Extra::default() };
            self.test = Some(load(world, console, &experiment.test.files(folder, Part::Test), extra)?);
        }
        let shard = self.test.as_ref().expect("just loaded");
        let file = self.on_root(|| Ok(ClassifierFile::read(&folder.classifier(subject))?))?;
        let mixture = share(world, file.map(|file| to_mixture(&file)));
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
            let location = self.experiment.counted(self.folder);
            let (_, rows, labels) = load_labels(self.world, &location)?;
            self.counts = Some((total_positives(self.world, &labels, rows), rows));
        }
        Ok(self.counts.as_ref().expect("just counted"))
    }

    /// What rank 0 makes of it; all ranks learn whether it succeeded.
    fn on_root<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        let made = if self.world.is_root() { work().map(Some) } else { Ok(None) };
        self.world.agree(made)
    }
}

/// A fit says something after so long.
const QUIET: Duration = Duration::from_secs(20);
