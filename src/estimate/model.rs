//! Trained estimators of any kind, and their marginals.

use std::path::Path;

use rayon::prelude::*;

use super::error::EstimateError;
use super::mlp::Network;
use super::plt::{CompiledForest, Forest};
use super::top_marginals::TopMarginals;
use crate::calibration::CalibrationMap;
use crate::error::Result;
use crate::heartbeat::beat;
use crate::progress::Progress;
use crate::sparse::{Csr, RowsView};
use crate::store::ModelFile;

#[derive(Clone, Copy, Debug)]
pub struct PredictOptions {
    /// Maximum number of marginals per row, at least 1; the largest are kept.
    pub keep: usize,
    /// Maximum number of groups of labels that a tree evaluates per row; `None` for exact results.
    pub beam: Option<usize>,
}

/// The kinds of estimators.
enum Estimator {
    /// Probabilistic label trees; one-vs-rest is a tree of one level.
    Forest(Box<CompiledForest>),
    /// A fully connected network.
    Network(Box<Network>),
}

/// A trained estimator, ready for prediction.
pub struct Model {
    pub features: u64,
    pub labels: u64,
    estimator: Estimator,
    calibration: Option<CalibrationMap>,
}

impl Model {
    pub fn read(path: &Path) -> Result<Model> {
        Model::from_file(ModelFile::read(path)?, path)
    }

    /// Checks and compiles the contents of a model file; `path` names it in messages.
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
                return Err(EstimateError::UnknownEstimator { file, found }.into());
            }
        };
        Ok(Model { features, labels, estimator, calibration })
    }

    /// Returns the largest marginals of each row, computed in this thread. The rows have the features of the model. The
    /// marginals of a row do not depend on the other rows.
    pub fn top_marginals(&self, rows: RowsView<'_>, options: PredictOptions) -> TopMarginals {
        let mut kept = match &self.estimator {
            Estimator::Forest(forest) => forest.top_marginals(rows, options),
            Estimator::Network(network) => network.top_marginals(rows, options),
        };
        // The map is increasing, so it does not change which marginals are the largest.
        if let Some(map) = &self.calibration {
            kept.map(|marginal| map.apply(marginal));
        }
        kept
    }
}

/// Rows that one thread evaluates at a time, so that it reads the weights of a unit once for many rows.
const ROWS_PER_BLOCK: usize = 512;

/// Minimum number of blocks per thread, so that no thread waits long for the last one.
const BLOCKS_PER_THREAD: usize = 4;

/// Returns the largest marginals of every row, computed by all threads.
pub fn predict_marginals(
    model: &Model,
    features: &Csr,
    options: PredictOptions,
    progress: &dyn Progress,
) -> TopMarginals {
    let (all, rows) = (RowsView::from(features), features.rows());
    let block = ROWS_PER_BLOCK.min(rows.div_ceil(BLOCKS_PER_THREAD * rayon::current_num_threads()).max(1));
    let starts: Vec<usize> = (0..rows).step_by(block).collect();
    let predict = |&start: &usize| {
        let end = (start + block).min(rows);
        let kept = model.top_marginals(all.slice(start..end), options);
        beat();
        progress.advanced((end - start) as u64);
        kept
    };
    progress.started("estimating marginals", rows as u64, 0);
    let parts: Vec<TopMarginals> = starts.par_iter().with_max_len(1).map(predict).collect();
    progress.finished();
    let mut kept = TopMarginals::default();
    parts.iter().for_each(|part| kept.append(part));
    kept
}
