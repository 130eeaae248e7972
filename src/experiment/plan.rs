//! The steps of an experiment, and which of them an earlier run has finished.

use super::classifier_spec::{ClassifierMethod, ClassifierSpec, FitSpec};
use super::fingerprints::{Fingerprinter, classifier_fingerprint, evaluation_fingerprint};
use super::folder::Folder;
use super::hash_cache::HashCache;
use super::state::{StepState, step_state};
use super::step::{Action, ExperimentStep, FitOrTest};
use super::{DataSource, Experiment, StrategyChoice, ToDoReason};
use crate::error::Result;
use crate::load::LoadOptions;
use crate::optimize::InitialSource;
use crate::store::{Location, Role};
use crate::world::World;

/// All steps of an experiment, in the order in which they run.
pub struct ExperimentPlan {
    pub steps: Vec<ExperimentStep>,
    /// The state of each step; empty on ranks other than 0.
    pub states: Vec<StepState>,
    /// Whether each step is to be run; on all ranks.
    pub to_do: Vec<bool>,
    pub(super) reuse: ReusePolicy,
    pub(super) hashes: HashCache,
}

/// Whether to reuse the results of earlier runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReusePolicy {
    ReuseUnchanged,
    RedoAll,
}

/// Plans an experiment with results in `folder`, without writing anything. Collective.
pub fn plan(
    world: &World,
    experiment: &Experiment,
    folder: &Folder,
    reuse: ReusePolicy,
) -> Result<ExperimentPlan> {
    let hashes =
        if world.is_root() { HashCache::read(&folder.hash_cache_file()) } else { HashCache::default() };
    let mut fingerprinter = Fingerprinter { world, hashes };
    let steps = experiment.steps(&mut fingerprinter)?;
    let mut hashes = fingerprinter.hashes;
    let state = |step| match reuse {
        ReusePolicy::ReuseUnchanged => step_state(folder, &mut hashes, step),
        ReusePolicy::RedoAll => StepState::ToDo(ToDoReason::Forced),
    };
    let states: Vec<StepState> = if world.is_root() { steps.iter().map(state).collect() } else { Vec::new() };
    let to_do = states.iter().map(|state| matches!(state, StepState::ToDo(_))).collect();
    let to_do = world.broadcast_json(world.is_root().then_some(to_do));
    Ok(ExperimentPlan { steps, states, to_do, reuse, hashes })
}

impl Experiment {
    /// Returns the classifiers to compare, in the order of the table.
    pub fn classifier_specs(&self) -> Vec<ClassifierSpec> {
        let methods: Vec<ClassifierMethod> =
            self.strategies.iter().flat_map(|&choice| self.methods(choice)).collect();
        let spec = |k: usize| methods.iter().map(move |method| ClassifierSpec { k, method: method.clone() });
        self.budgets.iter().flat_map(|&k| spec(k)).collect()
    }

    fn methods(&self, choice: StrategyChoice) -> Vec<ClassifierMethod> {
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
                let method =
                    |&seed| ClassifierMethod::FrankWolfe(FitSpec { metric: metric.clone(), target, seed });
                methods.extend(seeds.iter().map(method));
            }
        }
        methods
    }

    /// Returns the labels that priors and propensities come from.
    pub(super) fn label_count_source(&self, folder: &Folder) -> Location {
        let of = |data: &DataSource, part| data.files(folder, part).labels;
        let fitted = || of(&self.fit, FitOrTest::Fit).or_else(|| of(&self.test, FitOrTest::Test));
        self.train.clone().or_else(fitted).expect("an experiment has test labels")
    }

    /// Returns all steps: data, then classifiers, then evaluations. Collective.
    fn steps(&self, fingerprinter: &mut Fingerprinter<'_>) -> Result<Vec<ExperimentStep>> {
        let mut steps = Vec::new();
        for (part, data) in [(FitOrTest::Fit, &self.fit), (FitOrTest::Test, &self.test)] {
            let facts = fingerprinter.data(data, part)?;
            steps.extend(facts.map(|facts| ExperimentStep::new(Action::MakeData(part), facts)));
        }
        let fit = fingerprinter.sample(&self.fit, FitOrTest::Fit)?;
        let test = fingerprinter.sample(&self.test, FitOrTest::Test)?;
        let train = self.train.as_ref().map(|location| fingerprinter.file(location)).transpose()?;
        let counted = train.or(fit.labels.clone()).or(test.labels.clone()).unwrap_or_default();
        let initial = fingerprinter.initial(&self.search.initial)?;
        let mut evaluations = Vec::new();
        for spec in self.classifier_specs() {
            let facts = classifier_fingerprint(self, &spec, &fit, &initial, &counted);
            let step = ExperimentStep::new(Action::MakeClassifier(spec.clone()), facts);
            let facts = evaluation_fingerprint(&self.evaluate, &step.fingerprint_hash, &test, &counted);
            evaluations.push(ExperimentStep::new(Action::Evaluate(spec), facts));
            steps.push(step);
        }
        steps.extend(evaluations);
        Ok(steps)
    }
}

impl DataSource {
    /// Returns the data files, whether or not they exist yet.
    pub fn files(&self, folder: &Folder, part: FitOrTest) -> LoadOptions {
        let clamp = match self {
            DataSource::Files(files) => return files.clone(),
            DataSource::Synthetic(_) => false,
            DataSource::Split(split_file) => split_file.clamp,
        };
        let location = |role: Role| Location::in_file(folder.data_file(part), role);
        LoadOptions { marginals: location(Role::Marginals), labels: Some(location(Role::Labels)), clamp }
    }
}
