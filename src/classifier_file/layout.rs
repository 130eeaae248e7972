//! The classifier file: rules, weights, and how they were found.

use std::path::Path;

use ndarray::ArrayView2;

use crate::error;
use crate::optimize::Iteration;
use crate::store::{
    Hdf5File, Overwrite, Result, StoreError, text_attribute, write_file, write_text_attribute,
};
use crate::world::World;

/// Everything a classifier file holds. `slopes` and `intercepts` are rules x labels, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassifierFile {
    pub k: u64,
    pub labels: u64,
    pub slopes: Vec<f32>,
    pub intercepts: Vec<f32>,
    pub weights: Vec<f64>,
    /// The metric's text, or the baseline's name.
    pub metric: String,
    pub seed: u64,
    /// `all` or `support`: the labels a rule chooses from.
    pub candidates: String,
    pub trajectory: Vec<Iteration>,
    /// Positive instances of each label in the data it was made from, and how many instances that
    /// had: what propensities are estimated from. Empty when no labels were seen.
    pub positives: Vec<u64>,
    pub rows: u64,
    /// All that decided its bits, as text; none when that was not recorded.
    pub made_from: Option<String>,
}

impl ClassifierFile {
    pub fn read(path: &Path) -> Result<ClassifierFile> {
        let file = Hdf5File::open(path)?;
        let wrong =
            |detail: String| StoreError::WrongKind { file: path.into(), wanted: "classifier", detail };
        let matrix = |name: &str| -> Result<(usize, usize, Vec<f32>)> {
            let dataset =
                file.hdf5().dataset(name).map_err(|_| wrong(format!("it has no dataset '{name}'")))?;
            let &[rules, labels] = dataset.shape().as_slice() else {
                return Err(wrong(format!("'{name}' is not rules x labels")));
            };
            let values = dataset.read_raw().map_err(|error| file.explain(name, "reading", &error))?;
            Ok((rules, labels, values))
        };
        let (rules, labels, slopes) = matrix("slopes")?;
        let (rules_b, labels_b, intercepts) = matrix("intercepts")?;
        let numbers = |name: &str| -> Result<Vec<f64>> {
            let dataset =
                file.hdf5().dataset(name).map_err(|_| wrong(format!("it has no dataset '{name}'")))?;
            dataset.read_raw().map_err(|error| file.explain(name, "reading", &error))
        };
        let weights = numbers("weights")?;
        if (rules, labels) != (rules_b, labels_b) || weights.len() != rules || rules == 0 {
            return Err(wrong(format!(
                "slopes are {rules} x {labels}, intercepts {rules_b} x {labels_b}, and there are \
                 {} weights",
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
        let whole = |name: &str| -> Option<u64> { file.hdf5().attr(name).ok()?.read_scalar().ok() };
        let k = whole("k").ok_or_else(|| wrong("it has no attribute 'k'".into()))?;
        if k == 0 || k > labels as u64 {
            return Err(wrong(format!("k is {k}, but there are {labels} labels")));
        }
        let list = |name: &str| -> Vec<f64> {
            file.hdf5().attr(name).and_then(|attr| attr.read_raw()).unwrap_or_default()
        };
        let (utility, step) = (list("utility"), list("step"));
        let (gap, seconds) = (list("gap"), list("seconds"));
        let trajectory = (0..utility.len())
            .map(|i| Iteration {
                utility: utility[i],
                step: step.get(i).copied().unwrap_or_default(),
                gap: gap.get(i).copied().unwrap_or_default(),
                seconds: seconds.get(i).copied().unwrap_or_default(),
            })
            .collect();
        let positives = file.hdf5().dataset("positives").and_then(|d| d.read_raw()).unwrap_or_default();
        Ok(ClassifierFile {
            k,
            labels: labels as u64,
            slopes,
            intercepts,
            weights,
            metric: text_attribute(file.hdf5(), "metric").unwrap_or_default(),
            seed: whole("seed").unwrap_or_default(),
            candidates: text_attribute(file.hdf5(), "candidates").unwrap_or("all".into()),
            trajectory,
            positives,
            rows: whole("rows").unwrap_or_default(),
            made_from: text_attribute(file.hdf5(), "made_from"),
        })
    }

    /// Only what decided the bits of a classifier file; none when it does not say.
    pub fn read_made_from(path: &Path) -> Result<Option<String>> {
        Ok(text_attribute(Hdf5File::open(path)?.hdf5(), "made_from"))
    }

    /// Writes the file from rank 0. Collective. Only the seconds differ between two equal runs.
    pub fn write(&self, world: &World, path: &Path, overwrite: Overwrite) -> error::Result<()> {
        write_file(world, path, overwrite, &[], |file| {
            let shape = (self.weights.len(), self.labels as usize);
            for (name, values) in [("slopes", &self.slopes), ("intercepts", &self.intercepts)] {
                let view = ArrayView2::from_shape(shape, values)
                    .map_err(|error| hdf5::Error::Internal(error.to_string()))?;
                file.new_dataset_builder().with_data(view).create(name)?;
            }
            file.new_dataset_builder().with_data(&self.weights).create("weights")?;
            if !self.positives.is_empty() {
                file.new_dataset_builder().with_data(&self.positives).create("positives")?;
            }
            write_text_attribute(file, "metric", &self.metric)?;
            write_text_attribute(file, "candidates", &self.candidates)?;
            write_text_attribute(file, "version", env!("CARGO_PKG_VERSION"))?;
            if let Some(facts) = &self.made_from {
                write_text_attribute(file, "made_from", facts)?;
            }
            for (name, value) in [("k", self.k), ("seed", self.seed), ("rows", self.rows)] {
                file.new_attr::<u64>().create(name)?.write_scalar(&value)?;
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
                    file.new_attr_builder().with_data(&values).create(name)?;
                }
            }
            Ok(())
        })
    }
}
