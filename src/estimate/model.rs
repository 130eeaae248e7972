//! A trained estimator, whatever its kind.

use std::path::Path;

use super::error::EstimateError;
use super::mlp::Network;
use super::plt::{CompiledForest, Forest};
use super::top_marginals::TopMarginals;
use crate::calibration::CalibrationMap;
use crate::error::Result;
use crate::sparse::RowsView;
use crate::store::ModelFile;

/// What is wanted of each row.
#[derive(Clone, Copy, Debug)]
pub struct PredictOptions {
    /// At most so many marginals, the largest.
    pub keep: usize,
    /// Groups of labels that a tree may look at for each row; without it the result is exact.
    pub beam: Option<usize>,
}

/// The kinds of estimators. A new one is a variant here.
pub enum Estimator {
    /// A probabilistic label tree, or several; one-vs-rest is a tree of one level.
    Forest(Box<CompiledForest>),
    /// A fully connected network.
    Network(Box<Network>),
}

/// A model file, made ready to be asked.
pub struct Model {
    pub features: u64,
    pub labels: u64,
    estimator: Estimator,
    /// What the estimator's marginals mean, where that was fitted.
    calibration: Option<CalibrationMap>,
}

impl Model {
    pub fn read(path: &Path) -> Result<Model> {
        Model::from_file(ModelFile::read(path)?, path)
    }

    /// `path` is for messages.
    pub fn from_file(mut file: ModelFile, path: &Path) -> Result<Model> {
        let (features, labels) = (file.features, file.labels);
        let bad = |detail: String| EstimateError::BadModel { file: path.into(), detail };
        let calibration = CalibrationMap::take(&mut file).map_err(bad)?;
        let estimator = match file.estimator.as_str() {
            "plt" | "linear" => {
                Estimator::Forest(Box::new(Forest::from_file(&mut file).map_err(bad)?.compile()))
            }
            "mlp" => Estimator::Network(Box::new(Network::from_file(&mut file).map_err(bad)?)),
            _ => {
                let (file, found) = (path.into(), file.estimator);
                return Err(
                    EstimateError::UnknownEstimator { file, found, known: "plt, linear and mlp" }.into()
                );
            }
        };
        Ok(Model { features, labels, estimator, calibration })
    }

    /// The largest marginals of each row, by one thread. The rows have the model's features.
    ///
    /// A row's marginals depend on the row and the model only, not on the other rows.
    pub fn top_marginals(&self, rows: RowsView<'_>, options: PredictOptions) -> TopMarginals {
        let mut kept = match &self.estimator {
            Estimator::Forest(forest) => forest.top_marginals(rows, options),
            Estimator::Network(network) => network.top_marginals(rows, options),
        };
        // It rises, so that the largest are the same as without it.
        if let Some(map) = &self.calibration {
            kept.marginals_mut().iter_mut().for_each(|marginal| *marginal = map.apply(*marginal));
        }
        kept
    }
}
