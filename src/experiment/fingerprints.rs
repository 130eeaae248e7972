//! The facts that the result of each step depends on.

use std::fmt::Display;

use super::classifier_spec::{ClassifierMethod, ClassifierSpec, FitSpec};
use super::hash_cache::HashCache;
use super::step::{FitOrTest, fingerprint_hash};
use super::{BaselineSettings, DataSource, Experiment, FitTarget, SplitFile};
use crate::checkpoint::Fingerprint;
use crate::classifier::{BaselineConstants, BaselineStrategy};
use crate::error::Result;
use crate::evaluate::{Evaluation, EvaluationMode};
use crate::load::LoadOptions;
use crate::optimize::{Epsilon, FrankWolfeOptions, InitialSource};
use crate::pipeline::EvaluateRequest;
use crate::split::Split;
use crate::store::{Location, Role};
use crate::synth::{SynthSample, SynthShape};
use crate::world::World;

/// Computes fingerprints, with a cache of the hashes of input files.
///
/// Options are taken apart by name, so that the compiler rejects a new option that is missing here.
pub(super) struct Fingerprinter<'w> {
    pub world: &'w World,
    pub hashes: HashCache,
}

/// The facts of a sample that other steps use.
pub(super) struct SampleFingerprint {
    marginals: String,
    pub labels: Option<String>,
    clamp: bool,
}

/// A fact: its name and its value.
type Fact<'v> = (&'v str, &'v dyn Display);

fn add_facts(fingerprint: Fingerprint, facts: &[Fact<'_>]) -> Fingerprint {
    facts.iter().fold(fingerprint, |fingerprint, (name, value)| fingerprint.with(name, value))
}

fn fingerprint(facts: &[Fact<'_>]) -> Fingerprint {
    add_facts(Fingerprint::of_program(), facts)
}

impl Fingerprinter<'_> {
    /// Returns the facts that generated data depend on; `None` for data files.
    pub fn data(&mut self, data: &DataSource, part: FitOrTest) -> Result<Option<Fingerprint>> {
        Ok(match data {
            DataSource::Files(_) => None,
            DataSource::Synthetic(SynthSample { shape, seed, first_row }) => {
                let SynthShape { instances, labels, features, nnz, average_labels, exponent } = shape;
                Some(fingerprint(&[
                    ("instances", instances),
                    ("labels", labels),
                    ("features", features),
                    ("nnz", nnz),
                    ("avg-labels", average_labels),
                    ("exponent", exponent),
                    ("seed", seed),
                    ("first-row", first_row),
                ]))
            }
            DataSource::Split(SplitFile { file, split: Split { fractions, seed, method }, clamp: _ }) => {
                Some(fingerprint(&[
                    ("file", &self.hashes.input_hash(self.world, file)?),
                    ("part", &part.name()),
                    ("fractions", fractions),
                    ("seed", seed),
                    ("split", &method.name()),
                ]))
            }
        })
    }

    pub fn sample(&mut self, data: &DataSource, part: FitOrTest) -> Result<SampleFingerprint> {
        if let DataSource::Files(LoadOptions { marginals, labels, clamp }) = data {
            let marginals = self.file(marginals)?;
            let labels = labels.as_ref().map(|labels| self.file(labels)).transpose()?;
            return Ok(SampleFingerprint { marginals, labels, clamp: *clamp });
        }
        let made = fingerprint_hash(&self.data(data, part)?.unwrap_or_default());
        let group = |role: Role| format!("{made}:{}", role.group());
        let clamp = matches!(data, DataSource::Split(split_file) if split_file.clamp);
        Ok(SampleFingerprint { marginals: group(Role::Marginals), labels: Some(group(Role::Labels)), clamp })
    }

    pub fn file(&mut self, location: &Location) -> Result<String> {
        Ok(format!("{}:{}", self.hashes.input_hash(self.world, &location.file)?, location.group))
    }

    pub fn initial(&mut self, initial: &InitialSource) -> Result<String> {
        match initial {
            InitialSource::TopK => Ok("top-k".into()),
            InitialSource::Random => Ok("random".into()),
            InitialSource::Prior => Ok("prior".into()),
            InitialSource::File(path) => self.hashes.input_hash(self.world, path),
        }
    }
}

/// Returns the facts that a classifier depends on. `initial` and `counted` identify the initial classifier and the labels
/// that are counted.
pub(super) fn classifier_fingerprint(
    experiment: &Experiment,
    spec: &ClassifierSpec,
    sample: &SampleFingerprint,
    initial: &str,
    counted: &str,
) -> Fingerprint {
    match &spec.method {
        ClassifierMethod::Baseline(strategy) => {
            baseline_fingerprint(experiment.baselines, spec.k, *strategy, counted)
        }
        ClassifierMethod::FrankWolfe(FitSpec { metric, target, seed }) => {
            let FrankWolfeOptions { step, max_iterations, tolerance, min_gain, epsilon, candidates } =
                &experiment.search.options;
            let mut facts = fingerprint(&[
                ("k", &spec.k),
                ("metric", &metric.text()),
                ("targets", &target.name()),
                ("marginals", &sample.marginals),
                ("clamp", &sample.clamp),
            ]);
            if let (FitTarget::Labels, Some(labels)) = (target, &sample.labels) {
                facts = facts.with("labels", labels);
            }
            facts = facts.with("init", initial);
            if let Some(seed) = seed {
                facts = facts.with("seed", seed);
            }
            let epsilon = match epsilon {
                Epsilon::Fixed(epsilon) => epsilon.to_string(),
                Epsilon::Smoothing(instances) => format!("{instances} / n"),
            };
            add_facts(
                facts,
                &[
                    ("step", &step.name()),
                    ("max-iters", max_iterations),
                    ("tolerance", tolerance),
                    ("min-gain", min_gain),
                    ("epsilon", &epsilon),
                    ("candidates", &candidates.name()),
                ],
            )
        }
    }
}

fn baseline_fingerprint(
    BaselineSettings { constants, candidates }: BaselineSettings,
    k: usize,
    strategy: BaselineStrategy,
    counted: &str,
) -> Fingerprint {
    let BaselineConstants { beta, propensity_a, propensity_b } = constants;
    let facts = fingerprint(&[("k", &k), ("strategy", &strategy.name()), ("labels", &counted)]);
    // Only the constants that the strategy uses.
    let facts = match strategy {
        BaselineStrategy::PowerLaw => facts.with("beta", beta),
        BaselineStrategy::Propensity => {
            facts.with("propensity-a", propensity_a).with("propensity-b", propensity_b)
        }
        _ => facts,
    };
    facts.with("candidates", candidates.name())
}

/// Returns the facts that an evaluation depends on; `classifier` is the hash of the classifier's facts.
pub(super) fn evaluation_fingerprint(
    EvaluateRequest { evaluation: Evaluation { mode, epsilon, formulas }, propensity: (a, b) }: &EvaluateRequest,
    classifier: &str,
    test: &SampleFingerprint,
    counted: &str,
) -> Fingerprint {
    let facts = fingerprint(&[
        ("classifier", &classifier),
        ("marginals", &test.marginals),
        ("clamp", &test.clamp),
        ("labels", &test.labels.as_deref().unwrap_or_default()),
        ("train labels", &counted),
    ]);
    let facts = match mode {
        EvaluationMode::Drawn { sampling, seed, repeats } => {
            let sampling = format!("{sampling:?}").to_lowercase();
            add_facts(facts, &[("sampling", &sampling), ("seed", seed), ("repeats", repeats)])
        }
        EvaluationMode::Expected => facts.with("sampling", "expected"),
    };
    let formulas: Vec<&str> = formulas.iter().map(|metric| metric.text()).collect();
    add_facts(
        facts,
        &[("propensity-a", a), ("propensity-b", b), ("epsilon", epsilon), ("formulas", &formulas.join("; "))],
    )
}
