//! Errors of models and of the data they are trained on.

use crate::error::ModuleError;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum EstimateError {
    #[error(
        "{}: unknown estimator '{found}': expected plt, linear or mlp; use the macrok that wrote the model",
        file.display()
    )]
    UnknownEstimator { file: PathBuf, found: String },
    #[error("{}: damaged model: {detail}; train it again", file.display())]
    BadModel { file: PathBuf, detail: String },
    #[error(
        "{data}: {found} features, but {} was trained on {model}; pass features of the same columns",
        file.display()
    )]
    FeaturesDiffer { file: PathBuf, model: u64, data: String, found: u64 },
    #[error("{data}: no row has a label, so there is nothing to train on; check --labels")]
    NoLabels { data: String },
    #[error(
        "--calibrate: {positives} of {pairs} marginals of {rows} held-out rows belong to true labels: expected some, \
         but not all; pass a larger --calibrate-share, or omit --calibrate"
    )]
    NothingToCalibrate { rows: u64, pairs: u64, positives: u64 },
}

impl ModuleError for EstimateError {}
