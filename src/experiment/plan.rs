//! From an experiment to its steps, and what has been done of them.

use super::folder::Folder;
use super::identity::identity;
use super::known_files::KnownFiles;
use super::state::{State, state};
use super::step::{Part, Step, Work};
use super::subject::{Subject, Way};
use super::{Baselines, Choice, Data, Divided, Experiment, Reason, Target};
use crate::checkpoint::Fingerprint;
use crate::classifier::{Constants, Strategy};
use crate::error::Result;
use crate::evaluate::{Evaluation, Mode};
use crate::load::LoadOptions;
use crate::optimize::{Epsilon, Origin, Search};
use crate::split::Split;
use crate::store::{Location, Role};
use crate::synth::{Sample, Shape};
use crate::world::World;

/// All steps of an experiment, in the order they are done in.
pub struct Plan {
    pub steps: Vec<Step>,
    /// What rank 0 found of them; empty on other ranks.
    pub states: Vec<State>,
    /// Whether each is to be done; on all ranks.
    pub to_do: Vec<bool>,
    pub(super) again: Again,
    pub(super) known: KnownFiles,
}

/// Whether to believe what was done before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// Only what is not there or has changed.
    WhatChanged,
    Everything,
}

/// Plans an experiment whose results go to `folder`, and looks what is there. Writes nothing. Collective.
pub fn plan(world: &World, experiment: &Experiment, folder: &Folder, again: Again) -> Result<Plan> {
    let known = if world.is_root() { KnownFiles::read(&folder.known_files()) } else { KnownFiles::default() };
    let mut planner = Planner { world, experiment, known };
    let steps = planner.steps()?;
    let mut known = planner.known;
    let look = |step| match again {
        Again::WhatChanged => state(folder, &mut known, step),
        Again::Everything => State::ToDo(Reason::Forced),
    };
    let states: Vec<State> = if world.is_root() { steps.iter().map(look).collect() } else { Vec::new() };
    let mut to_do: Vec<u8> = states.iter().map(|state| u8::from(matches!(state, State::ToDo(_)))).collect();
    world.broadcast(&mut to_do);
    Ok(Plan { steps, states, to_do: to_do.iter().map(|&to_do| to_do == 1).collect(), again, known })
}

impl Experiment {
    /// What is compared, in the order of the table.
    pub fn subjects(&self) -> Vec<Subject> {
        self.budgets
            .iter()
            .flat_map(|&k| self.ways().into_iter().map(move |way| Subject { k, way }))
            .collect()
    }

    fn ways(&self) -> Vec<Way> {
        self.choices.iter().flat_map(|choice| self.ways_of(*choice)).collect()
    }

    fn ways_of(&self, choice: Choice) -> Vec<Way> {
        if let Choice::Baseline(strategy) = choice {
            return vec![Way::Baseline(strategy)];
        }
        let seeds = match self.search.origin {
            Origin::Random => self.seeds.iter().map(|&seed| Some(seed)).collect(),
            _ => vec![None],
        };
        let mut ways = Vec::new();
        for metric in &self.metrics {
            for &target in &self.targets {
                ways.extend(seeds.iter().map(|&seed| Way::FrankWolfe {
                    metric: metric.clone(),
                    target,
                    seed,
                }));
            }
        }
        ways
    }

    /// The labels that priors and propensities come from.
    pub(super) fn counted(&self, folder: &Folder) -> Location {
        let of = |data: &Data, part| data.files(folder, part).labels;
        let fitted = || of(&self.fit, Part::Fit).or_else(|| of(&self.test, Part::Test));
        self.train.clone().or_else(fitted).expect("an experiment has test labels")
    }
}

impl Data {
    /// The files, also where they have yet to be made.
    pub fn files(&self, folder: &Folder, part: Part) -> LoadOptions {
        match self {
            Data::Files(files) => files.clone(),
            Data::Made(_) | Data::Divided(_) => {
                let location = |role: Role| Location { file: folder.made(part), group: role.group().into() };
                let labels = Some(location(Role::Labels));
                let clamp = matches!(self, Data::Divided(divided) if divided.clamp);
                LoadOptions { marginals: location(Role::Marginals), labels, clamp }
            }
        }
    }
}

struct Planner<'w> {
    world: &'w World,
    experiment: &'w Experiment,
    known: KnownFiles,
}

/// A sample as facts.
struct Input {
    marginals: String,
    labels: Option<String>,
    clamp: bool,
}

impl Planner<'_> {
    fn steps(&mut self) -> Result<Vec<Step>> {
        let experiment = self.experiment;
        let mut steps = Vec::new();
        for (part, data) in [(Part::Fit, &experiment.fit), (Part::Test, &experiment.test)] {
            let facts = self.making(data, part)?;
            steps.extend(facts.map(|facts| Step::new(Work::Make(part), facts)));
        }
        let fit = self.input(&experiment.fit, Part::Fit)?;
        let test = self.input(&experiment.test, Part::Test)?;
        let train = match &experiment.train {
            Some(location) => Some(self.file(location)?),
            None => None,
        };
        let counted = train.or(fit.labels.clone()).or(test.labels.clone()).unwrap_or_default();
        let start = self.start()?;
        let find = |subject: &Subject| match &subject.way {
            Way::Baseline(strategy) => baseline(experiment, subject.k, *strategy, &counted),
            Way::FrankWolfe { .. } => fitted(experiment, subject, &fit, &start),
        };
        let subjects = experiment.subjects();
        let found: Vec<Step> =
            subjects.iter().map(|subject| Step::new(Work::Find(subject.clone()), find(subject))).collect();
        let evaluate = |step: &Step| evaluated(experiment, &step.identity, &test, &counted);
        let evaluations = found.iter().zip(subjects).map(|(step, subject)| {
            let facts = evaluate(step);
            Step::new(Work::Evaluate(subject), facts)
        });
        let evaluations: Vec<Step> = evaluations.collect();
        steps.extend(found);
        steps.extend(evaluations);
        Ok(steps)
    }

    /// What making a sample depends on; nothing when it is there.
    fn making(&mut self, data: &Data, part: Part) -> Result<Option<Fingerprint>> {
        Ok(match data {
            Data::Files(_) => None,
            Data::Made(sample) => Some(made(sample)),
            Data::Divided(Divided { file, split, clamp: _ }) => {
                let Split { fractions, seed, method } = split;
                let facts = Fingerprint::of_program().with("file", self.known.shared(self.world, file)?);
                let facts = facts.with("part", part.name()).with("fractions", fractions).with("seed", seed);
                Some(facts.with("split", method.name()))
            }
        })
    }

    fn input(&mut self, data: &Data, part: Part) -> Result<Input> {
        let made = self.making(data, part)?;
        match data {
            Data::Files(LoadOptions { marginals, labels, clamp }) => {
                let marginals = self.file(marginals)?;
                let labels = match labels {
                    Some(labels) => Some(self.file(labels)?),
                    None => None,
                };
                Ok(Input { marginals, labels, clamp: *clamp })
            }
            Data::Made(_) | Data::Divided(_) => {
                let made = identity(&made.unwrap_or_default());
                let group = |role: Role| format!("{made}:{}", role.group());
                let clamp = matches!(data, Data::Divided(divided) if divided.clamp);
                Ok(Input { marginals: group(Role::Marginals), labels: Some(group(Role::Labels)), clamp })
            }
        }
    }

    fn file(&mut self, location: &Location) -> Result<String> {
        Ok(format!("{}:{}", self.known.shared(self.world, &location.file)?, location.group))
    }

    fn start(&mut self) -> Result<String> {
        Ok(match &self.experiment.search.origin {
            Origin::TopK => "top-k".into(),
            Origin::Random => "random".into(),
            Origin::Prior => "prior".into(),
            Origin::File(path) => self.known.shared(self.world, path)?,
        })
    }
}

fn made(sample: &Sample) -> Fingerprint {
    let Sample { shape, seed, first_row } = sample;
    let Shape { instances, labels, features, nnz, average_labels, exponent } = shape;
    let facts = Fingerprint::of_program()
        .with("instances", instances)
        .with("labels", labels)
        .with("features", features);
    let facts = facts.with("nnz", nnz).with("avg-labels", average_labels).with("exponent", exponent);
    facts.with("seed", seed).with("first-row", first_row)
}

fn fitted(experiment: &Experiment, subject: &Subject, input: &Input, start: &str) -> Fingerprint {
    // By name, so that a new option cannot be forgotten here.
    let Search { origin: _, step, max_iterations, tolerance, min_gain, epsilon, candidates } =
        &experiment.search;
    let facts =
        Fingerprint::of_program().with("k", subject.k).with("metric", subject.metric().unwrap_or_default());
    let facts = facts.with("targets", subject.target().map_or("", Target::name));
    let facts = facts.with("marginals", &input.marginals).with("clamp", input.clamp);
    let facts = match (subject.target(), &input.labels) {
        (Some(Target::Labels), Some(labels)) => facts.with("labels", labels),
        _ => facts,
    };
    let facts = facts.with("init", start);
    let facts = match subject.seed() {
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

fn baseline(experiment: &Experiment, k: usize, strategy: Strategy, labels: &str) -> Fingerprint {
    let Baselines { constants, candidates } = experiment.baselines;
    let Constants { beta, propensity_a, propensity_b } = constants;
    let facts =
        Fingerprint::of_program().with("k", k).with("strategy", strategy.name()).with("labels", labels);
    // Only what the strategy uses: a change of anything else changes nothing.
    let facts = match strategy {
        Strategy::PowerLaw => facts.with("beta", beta),
        Strategy::Propensity => facts.with("propensity-a", propensity_a).with("propensity-b", propensity_b),
        _ => facts,
    };
    facts.with("candidates", candidates.name())
}

fn evaluated(experiment: &Experiment, classifier: &str, test: &Input, counted: &str) -> Fingerprint {
    let Evaluation { mode, epsilon, formulas } = &experiment.evaluation;
    let facts = Fingerprint::of_program().with("classifier", classifier);
    let facts = facts.with("marginals", &test.marginals).with("clamp", test.clamp);
    let facts =
        facts.with("labels", test.labels.as_deref().unwrap_or_default()).with("train labels", counted);
    let facts = match mode {
        Mode::Drawn { sampling, seed, repeats } => {
            let sampling = format!("{sampling:?}").to_lowercase();
            facts.with("sampling", sampling).with("seed", seed).with("repeats", repeats)
        }
        Mode::Expected => facts.with("sampling", "expected"),
    };
    let (a, b) = experiment.propensity;
    let facts = facts.with("propensity-a", a).with("propensity-b", b).with("epsilon", epsilon);
    let formulas: Vec<&str> = formulas.iter().map(|metric| metric.text()).collect();
    facts.with("formulas", formulas.join("; "))
}
