//! From an experiment to its steps, and what has been done of them.

use super::classifier_spec::{ClassifierMethod, ClassifierSpec};
use super::fingerprint_hash::fingerprint_hash;
use super::folder::Folder;
use super::hash_cache::HashCache;
use super::state::{StepState, step_state};
use super::step::{Action, ExperimentStep, FitOrTest};
use super::{BaselineSettings, DataSource, Experiment, FitTarget, SplitFile, StrategyChoice, ToDoReason};
use crate::checkpoint::Fingerprint;
use crate::classifier::{BaselineConstants, BaselineStrategy};
use crate::error::Result;
use crate::evaluate::{Evaluation, EvaluationMode};
use crate::load::LoadOptions;
use crate::optimize::{Epsilon, FitConfig, InitialSource};
use crate::split::Split;
use crate::store::{Location, Role};
use crate::synth::{SynthSample, SynthShape};
use crate::world::World;

/// All steps of an experiment, in the order they are done in.
pub struct ExperimentPlan {
    pub steps: Vec<ExperimentStep>,
    /// What rank 0 found of them; empty on other ranks.
    pub states: Vec<StepState>,
    /// Whether each is to be done; on all ranks.
    pub to_do: Vec<bool>,
    pub(super) reuse: ReusePolicy,
    pub(super) hashes: HashCache,
}

/// Whether to believe what was done before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReusePolicy {
    /// Only what is not there or has changed.
    ReuseUnchanged,
    RedoAll,
}

/// Plans an experiment whose results go to `folder`, and looks what is there. Writes nothing. Collective.
pub fn plan(
    world: &World,
    experiment: &Experiment,
    folder: &Folder,
    reuse: ReusePolicy,
) -> Result<ExperimentPlan> {
    let hashes =
        if world.is_root() { HashCache::read(&folder.hash_cache_file()) } else { HashCache::default() };
    let mut planner = Planner { world, experiment, hashes };
    let steps = planner.steps()?;
    let mut hashes = planner.hashes;
    let look = |step| match reuse {
        ReusePolicy::ReuseUnchanged => step_state(folder, &mut hashes, step),
        ReusePolicy::RedoAll => StepState::ToDo(ToDoReason::Forced),
    };
    let states: Vec<StepState> = if world.is_root() { steps.iter().map(look).collect() } else { Vec::new() };
    let mut to_do: Vec<u8> =
        states.iter().map(|state| u8::from(matches!(state, StepState::ToDo(_)))).collect();
    world.broadcast(&mut to_do);
    Ok(ExperimentPlan {
        steps,
        states,
        to_do: to_do.iter().map(|&to_do| to_do == 1).collect(),
        reuse,
        hashes,
    })
}

impl Experiment {
    /// What is compared, in the order of the table.
    pub fn classifier_specs(&self) -> Vec<ClassifierSpec> {
        self.budgets
            .iter()
            .flat_map(|&k| self.methods().into_iter().map(move |method| ClassifierSpec { k, method }))
            .collect()
    }

    fn methods(&self) -> Vec<ClassifierMethod> {
        self.strategies.iter().flat_map(|choice| self.methods_of(*choice)).collect()
    }

    fn methods_of(&self, choice: StrategyChoice) -> Vec<ClassifierMethod> {
        if let StrategyChoice::Baseline(strategy) = choice {
            return vec![ClassifierMethod::Baseline(strategy)];
        }
        let seeds = match self.search.initial {
            InitialSource::Random => self.seeds.iter().map(|&seed| Some(seed)).collect(),
            _ => vec![None],
        };
        let mut methods = Vec::new();
        for metric in &self.metrics {
            for &target in &self.targets {
                methods.extend(seeds.iter().map(|&seed| ClassifierMethod::FrankWolfe {
                    metric: metric.clone(),
                    target,
                    seed,
                }));
            }
        }
        methods
    }

    /// The labels that priors and propensities come from.
    pub(super) fn label_count_source(&self, folder: &Folder) -> Location {
        let of = |data: &DataSource, part| data.files(folder, part).labels;
        let fitted = || of(&self.fit, FitOrTest::Fit).or_else(|| of(&self.test, FitOrTest::Test));
        self.train.clone().or_else(fitted).expect("an experiment has test labels")
    }
}

impl DataSource {
    /// The files, also where they have yet to be made.
    pub fn files(&self, folder: &Folder, part: FitOrTest) -> LoadOptions {
        match self {
            DataSource::Files(files) => files.clone(),
            DataSource::Synthetic(_) | DataSource::Split(_) => {
                let location =
                    |role: Role| Location { file: folder.data_file(part), group: role.group().into() };
                let labels = Some(location(Role::Labels));
                let clamp = matches!(self, DataSource::Split(split_file) if split_file.clamp);
                LoadOptions { marginals: location(Role::Marginals), labels, clamp }
            }
        }
    }
}

struct Planner<'w> {
    world: &'w World,
    experiment: &'w Experiment,
    hashes: HashCache,
}

/// A sample as facts.
struct SampleFingerprint {
    marginals: String,
    labels: Option<String>,
    clamp: bool,
}

impl Planner<'_> {
    fn steps(&mut self) -> Result<Vec<ExperimentStep>> {
        let experiment = self.experiment;
        let mut steps = Vec::new();
        for (part, data) in [(FitOrTest::Fit, &experiment.fit), (FitOrTest::Test, &experiment.test)] {
            let facts = self.data_fingerprint(data, part)?;
            steps.extend(facts.map(|facts| ExperimentStep::new(Action::MakeData(part), facts)));
        }
        let fit = self.sample_fingerprint(&experiment.fit, FitOrTest::Fit)?;
        let test = self.sample_fingerprint(&experiment.test, FitOrTest::Test)?;
        let train = match &experiment.train {
            Some(location) => Some(self.file_fingerprint(location)?),
            None => None,
        };
        let counted = train.or(fit.labels.clone()).or(test.labels.clone()).unwrap_or_default();
        let start = self.initial_fingerprint()?;
        let find = |spec: &ClassifierSpec| match &spec.method {
            ClassifierMethod::Baseline(strategy) => {
                baseline_fingerprint(experiment, spec.k, *strategy, &counted)
            }
            ClassifierMethod::FrankWolfe { .. } => fit_fingerprint(experiment, spec, &fit, &start),
        };
        let classifier_specs = experiment.classifier_specs();
        let found: Vec<ExperimentStep> = classifier_specs
            .iter()
            .map(|spec| ExperimentStep::new(Action::MakeClassifier(spec.clone()), find(spec)))
            .collect();
        let evaluate = |step: &ExperimentStep| {
            evaluation_fingerprint(experiment, &step.fingerprint_hash, &test, &counted)
        };
        let evaluations = found.iter().zip(classifier_specs).map(|(step, spec)| {
            let facts = evaluate(step);
            ExperimentStep::new(Action::Evaluate(spec), facts)
        });
        let evaluations: Vec<ExperimentStep> = evaluations.collect();
        steps.extend(found);
        steps.extend(evaluations);
        Ok(steps)
    }

    /// What making a sample depends on; nothing when it is there.
    fn data_fingerprint(&mut self, data: &DataSource, part: FitOrTest) -> Result<Option<Fingerprint>> {
        Ok(match data {
            DataSource::Files(_) => None,
            DataSource::Synthetic(sample) => Some(synth_fingerprint(sample)),
            DataSource::Split(SplitFile { file, split, clamp: _ }) => {
                let Split { fractions, seed, method } = split;
                let facts = Fingerprint::of_program().with("file", self.hashes.input_hash(self.world, file)?);
                let facts = facts.with("part", part.name()).with("fractions", fractions).with("seed", seed);
                Some(facts.with("split", method.name()))
            }
        })
    }

    fn sample_fingerprint(&mut self, data: &DataSource, part: FitOrTest) -> Result<SampleFingerprint> {
        let made = self.data_fingerprint(data, part)?;
        match data {
            DataSource::Files(LoadOptions { marginals, labels, clamp }) => {
                let marginals = self.file_fingerprint(marginals)?;
                let labels = match labels {
                    Some(labels) => Some(self.file_fingerprint(labels)?),
                    None => None,
                };
                Ok(SampleFingerprint { marginals, labels, clamp: *clamp })
            }
            DataSource::Synthetic(_) | DataSource::Split(_) => {
                let made = fingerprint_hash(&made.unwrap_or_default());
                let group = |role: Role| format!("{made}:{}", role.group());
                let clamp = matches!(data, DataSource::Split(split_file) if split_file.clamp);
                Ok(SampleFingerprint {
                    marginals: group(Role::Marginals),
                    labels: Some(group(Role::Labels)),
                    clamp,
                })
            }
        }
    }

    fn file_fingerprint(&mut self, location: &Location) -> Result<String> {
        Ok(format!("{}:{}", self.hashes.input_hash(self.world, &location.file)?, location.group))
    }

    fn initial_fingerprint(&mut self) -> Result<String> {
        Ok(match &self.experiment.search.initial {
            InitialSource::TopK => "top-k".into(),
            InitialSource::Random => "random".into(),
            InitialSource::Prior => "prior".into(),
            InitialSource::File(path) => self.hashes.input_hash(self.world, path)?,
        })
    }
}

fn synth_fingerprint(sample: &SynthSample) -> Fingerprint {
    let SynthSample { shape, seed, first_row } = sample;
    let SynthShape { instances, labels, features, nnz, average_labels, exponent } = shape;
    let facts = Fingerprint::of_program()
        .with("instances", instances)
        .with("labels", labels)
        .with("features", features);
    let facts = facts.with("nnz", nnz).with("avg-labels", average_labels).with("exponent", exponent);
    facts.with("seed", seed).with("first-row", first_row)
}

fn fit_fingerprint(
    experiment: &Experiment,
    spec: &ClassifierSpec,
    input: &SampleFingerprint,
    start: &str,
) -> Fingerprint {
    // By name, so that a new option cannot be forgotten here.
    let FitConfig { initial: _, step, max_iterations, tolerance, min_gain, epsilon, candidates } =
        &experiment.search;
    let facts = Fingerprint::of_program().with("k", spec.k).with("metric", spec.metric().unwrap_or_default());
    let facts = facts.with("targets", spec.target().map_or("", FitTarget::name));
    let facts = facts.with("marginals", &input.marginals).with("clamp", input.clamp);
    let facts = match (spec.target(), &input.labels) {
        (Some(FitTarget::Labels), Some(labels)) => facts.with("labels", labels),
        _ => facts,
    };
    let facts = facts.with("init", start);
    let facts = match spec.seed() {
        Some(seed) => facts.with("seed", seed),
        None => facts,
    };
    let step = format!("{step:?}").to_lowercase();
    let facts = facts.with("step", step).with("max-iters", max_iterations);
    let facts = facts.with("tolerance", tolerance).with("min-gain", min_gain);
    let facts = match epsilon {
        Epsilon::Fixed(epsilon) => facts.with("epsilon", epsilon),
        Epsilon::Smoothing(instances) => facts.with("epsilon", format!("{instances} / n")),
    };
    facts.with("candidates", candidates.name())
}

fn baseline_fingerprint(
    experiment: &Experiment,
    k: usize,
    strategy: BaselineStrategy,
    labels: &str,
) -> Fingerprint {
    let BaselineSettings { constants, candidates } = experiment.baselines;
    let BaselineConstants { beta, propensity_a, propensity_b } = constants;
    let facts =
        Fingerprint::of_program().with("k", k).with("strategy", strategy.name()).with("labels", labels);
    // Only what the strategy uses: a change of anything else changes nothing.
    let facts = match strategy {
        BaselineStrategy::PowerLaw => facts.with("beta", beta),
        BaselineStrategy::Propensity => {
            facts.with("propensity-a", propensity_a).with("propensity-b", propensity_b)
        }
        _ => facts,
    };
    facts.with("candidates", candidates.name())
}

fn evaluation_fingerprint(
    experiment: &Experiment,
    classifier: &str,
    test: &SampleFingerprint,
    counted: &str,
) -> Fingerprint {
    let Evaluation { mode, epsilon, formulas } = &experiment.evaluation;
    let facts = Fingerprint::of_program().with("classifier", classifier);
    let facts = facts.with("marginals", &test.marginals).with("clamp", test.clamp);
    let facts =
        facts.with("labels", test.labels.as_deref().unwrap_or_default()).with("train labels", counted);
    let facts = match mode {
        EvaluationMode::Drawn { sampling, seed, repeats } => {
            let sampling = format!("{sampling:?}").to_lowercase();
            facts.with("sampling", sampling).with("seed", seed).with("repeats", repeats)
        }
        EvaluationMode::Expected => facts.with("sampling", "expected"),
    };
    let (a, b) = experiment.propensity;
    let facts = facts.with("propensity-a", a).with("propensity-b", b).with("epsilon", epsilon);
    let formulas: Vec<&str> = formulas.iter().map(|metric| metric.text()).collect();
    facts.with("formulas", formulas.join("; "))
}
