//! The classifier file: a mixture of rules and the record of its origin. To add a field, change this module only.

use std::path::Path;

use ndarray::ArrayView2;

use crate::checkpoint::Fingerprint;
use crate::classifier::{BaselineStrategy, Candidates, Mixture, Rule};
use crate::error;
use crate::measure::{Metric, Population};
use crate::optimize::{FitResult, Iteration};
use crate::store::{
    FileKind, Hdf5File, Overwrite, Result, StoreError, read_text_attribute, write_file, write_text_attribute,
};
use crate::world::World;

/// Version of the layout. Files without the attribute are of version 1; later versions are refused.
const VERSION: u64 = 1;
const VERSION_ATTRIBUTE: &str = "classifier-version";

/// The contents of a classifier file.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassifierFile {
    pub mixture: Mixture,
    /// The metric's text, or the baseline's name.
    pub metric: String,
    pub seed: u64,
    pub trajectory: Vec<Iteration>,
    /// Positive instances of each label in the data of the fit, for propensities; empty without true labels.
    pub positives: Vec<u64>,
    /// Instances in these data.
    pub rows: u64,
    /// The text of the [`Fingerprint`] that decides the bits of the classifier, if recorded.
    pub fingerprint: Option<String>,
}

impl ClassifierFile {
    /// Returns the classifier of a fit.
    pub fn of_fit(
        fit: &FitResult,
        metric: &Metric,
        seed: u64,
        population: &Population,
        fingerprint: &Fingerprint,
    ) -> ClassifierFile {
        let labelled = population.unit == 1;
        ClassifierFile {
            mixture: fit.mixture.clone(),
            metric: metric.text().to_owned(),
            seed,
            trajectory: fit.trajectory.clone(),
            // Propensities cannot be estimated from expected positives.
            positives: if labelled { population.positives.clone() } else { Vec::new() },
            rows: population.rows,
            fingerprint: Some(fingerprint.to_text()),
        }
    }

    /// Returns the classifier of a baseline.
    pub fn of_baseline(
        strategy: BaselineStrategy,
        mixture: Mixture,
        positives: Vec<u64>,
        rows: u64,
    ) -> ClassifierFile {
        let (metric, seed, trajectory) = (strategy.name().to_owned(), 0, Vec::new());
        ClassifierFile { mixture, metric, seed, trajectory, positives, rows, fingerprint: None }
    }

    pub fn labels(&self) -> u64 {
        self.mixture.rules[0].labels() as u64
    }

    pub fn read(path: &Path) -> Result<ClassifierFile> {
        let file = Hdf5File::open(path)?;
        file.require(FileKind::Classifier)?;
        let hdf5 = file.hdf5();
        let wrong = |detail: String| StoreError::Malformed { file: path.into(), kind: "classifier", detail };
        let integer = |name: &str| -> Option<u64> { hdf5.attr(name).ok()?.read_scalar().ok() };
        let version = integer(VERSION_ATTRIBUTE).unwrap_or(VERSION);
        if version > VERSION {
            return Err(wrong(format!(
                "its version is {version}, but this macrok reads versions up to {VERSION}"
            )));
        }
        let dataset =
            |name: &str| hdf5.dataset(name).map_err(|_| wrong(format!("it has no dataset '{name}'")));
        let matrix = |name: &str| -> Result<(usize, usize, Vec<f32>)> {
            let dataset = dataset(name)?;
            let &[rules, labels] = dataset.shape().as_slice() else {
                return Err(wrong(format!("'{name}' is not rules x labels")));
            };
            let values = dataset.read_raw().map_err(|error| file.hdf5_error(name, "reading", &error))?;
            Ok((rules, labels, values))
        };
        let (rules, labels, slopes) = matrix("slopes")?;
        let (rules_b, labels_b, intercepts) = matrix("intercepts")?;
        let weights: Vec<f64> =
            dataset("weights")?.read_raw().map_err(|error| file.hdf5_error("weights", "reading", &error))?;
        if (rules, labels) != (rules_b, labels_b) || weights.len() != rules || rules == 0 || labels == 0 {
            return Err(wrong(format!(
                "slopes are {rules} x {labels}, intercepts {rules_b} x {labels_b}, and there are {} weights",
                weights.len()
            )));
        }
        let total: f64 = weights.iter().sum();
        if weights.iter().any(|&w| w.is_nan() || w < 0.0) || (total - 1.0).abs() > 1e-6 {
            return Err(wrong(format!("weights must be at least 0 and sum to 1, but sum to {total}")));
        }
        if slopes.iter().chain(&intercepts).any(|v| !v.is_finite()) {
            return Err(wrong("a slope or an intercept is not a finite number".into()));
        }
        let k = integer("k").ok_or_else(|| wrong("it has no attribute 'k'".into()))?;
        if k == 0 || k > labels as u64 {
            return Err(wrong(format!("k is {k}, but there are {labels} labels")));
        }
        let candidates = match read_text_attribute(hdf5, "candidates") {
            None => Candidates::All,
            Some(name) => Candidates::from_name(&name)
                .ok_or_else(|| wrong(format!("candidates is '{name}', but must be 'all' or 'support'")))?,
        };
        let column =
            |name: &str| -> Vec<f64> { hdf5.attr(name).and_then(|attr| attr.read_raw()).unwrap_or_default() };
        let [utility, step, gap, seconds] = ["utility", "step", "gap", "seconds"].map(column);
        let value = |values: &[f64], at: usize| values.get(at).copied().unwrap_or_default();
        let trajectory = (0..utility.len()).map(|at| Iteration {
            utility: utility[at],
            step: value(&step, at),
            gap: value(&gap, at),
            seconds: value(&seconds, at),
        });
        Ok(ClassifierFile {
            mixture: mixture(k as usize, candidates, labels, &slopes, &intercepts, weights),
            metric: read_text_attribute(hdf5, "metric").unwrap_or_default(),
            seed: integer("seed").unwrap_or_default(),
            trajectory: trajectory.collect(),
            positives: hdf5.dataset("positives").and_then(|dataset| dataset.read_raw()).unwrap_or_default(),
            rows: integer("rows").unwrap_or_default(),
            fingerprint: read_text_attribute(hdf5, "made_from"),
        })
    }

    /// Writes `file`, rank 0's. Equal runs write equal files apart from the seconds. Collective.
    pub fn write(
        file: Option<&ClassifierFile>,
        world: &World,
        path: &Path,
        overwrite: Overwrite,
    ) -> error::Result<()> {
        write_file(world, path, overwrite, &[], |hdf5| file.map_or(Ok(()), |file| file.lay_out(hdf5)))
    }

    fn lay_out(&self, hdf5: &hdf5::File) -> hdf5::Result<()> {
        let Mixture { k, candidates, rules, weights } = &self.mixture;
        let slopes: Vec<f32> = rules.iter().flat_map(|rule| &rule.slopes).copied().collect();
        let intercepts: Vec<f32> = rules.iter().flat_map(|rule| &rule.intercepts).copied().collect();
        for (name, values) in [("slopes", slopes), ("intercepts", intercepts)] {
            let view = ArrayView2::from_shape((rules.len(), rules[0].labels()), &values)
                .map_err(|error| hdf5::Error::Internal(error.to_string()))?;
            hdf5.new_dataset_builder().with_data(view).create(name)?;
        }
        hdf5.new_dataset_builder().with_data(weights).create("weights")?;
        if !self.positives.is_empty() {
            hdf5.new_dataset_builder().with_data(&self.positives).create("positives")?;
        }
        write_text_attribute(hdf5, "metric", &self.metric)?;
        write_text_attribute(hdf5, "candidates", candidates.name())?;
        write_text_attribute(hdf5, "version", env!("CARGO_PKG_VERSION"))?;
        if let Some(fingerprint) = &self.fingerprint {
            write_text_attribute(hdf5, "made_from", fingerprint)?;
        }
        let integers =
            [(VERSION_ATTRIBUTE, VERSION), ("k", *k as u64), ("seed", self.seed), ("rows", self.rows)];
        for (name, value) in integers {
            hdf5.new_attr::<u64>().create(name)?.write_scalar(&value)?;
        }
        type Column = fn(&Iteration) -> f64;
        let columns: [(&str, Column); 4] = [
            ("utility", |i| i.utility),
            ("step", |i| i.step),
            ("gap", |i| i.gap),
            ("seconds", |i| i.seconds),
        ];
        for (name, column) in columns {
            let values: Vec<f64> = self.trajectory.iter().map(column).collect();
            if !values.is_empty() {
                hdf5.new_attr_builder().with_data(&values).create(name)?;
            }
        }
        Ok(())
    }
}

fn mixture(
    k: usize,
    candidates: Candidates,
    labels: usize,
    slopes: &[f32],
    intercepts: &[f32],
    weights: Vec<f64>,
) -> Mixture {
    let rules = slopes.chunks(labels).zip(intercepts.chunks(labels));
    let rule = |(slopes, intercepts): (&[f32], &[f32])| Rule {
        slopes: slopes.into(),
        intercepts: intercepts.into(),
    };
    Mixture { k, candidates, rules: rules.map(|pair| rule(pair).into()).collect(), weights }
}

/// Sends the classifier that rank 0 has read to all ranks, which need not have access to the file. Collective.
pub fn broadcast(world: &World, file: Option<ClassifierFile>) -> Mixture {
    let shape = file.as_ref().map(|file| {
        let Mixture { k, candidates, rules, .. } = &file.mixture;
        (*k, rules[0].labels(), candidates.name().to_owned())
    });
    let (k, labels, candidates) = world.broadcast_json(shape);
    let (mut slopes, mut intercepts, mut weights) = Default::default();
    if let Some(ClassifierFile { mixture, .. }) = file {
        slopes = mixture.rules.iter().flat_map(|rule| rule.slopes.iter().copied()).collect();
        intercepts = mixture.rules.iter().flat_map(|rule| rule.intercepts.iter().copied()).collect();
        weights = mixture.weights;
    }
    world.broadcast(&mut slopes);
    world.broadcast(&mut intercepts);
    world.broadcast(&mut weights);
    let candidates = Candidates::from_name(&candidates).expect("a name that rank 0 has sent");
    mixture(k, candidates, labels, &slopes, &intercepts, weights)
}
