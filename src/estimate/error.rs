//! What can be wrong with a model, or with what one is to be learnt from.

use crate::error::ModuleError;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum EstimateError {
    #[error("{}: is a model of the kind '{found}', but this program knows {known}", file.display())]
    UnknownEstimator { file: PathBuf, found: String, known: &'static str },
    #[error("{}: the model is damaged: {detail}; train it again", file.display())]
    BadModel { file: PathBuf, detail: String },
    #[error(
        "{}: the model is for {model} features, but {data} has {found}; give the features it was trained on",
        file.display()
    )]
    FeaturesDiffer { file: PathBuf, model: u64, data: String, found: u64 },
    #[error("{data}: no row has a label; there is nothing to learn")]
    NoLabels { data: String },
    #[error(
        "--calibrate: of the {pairs} marginals of the {rows} rows that were held out, {positives} are of true labels, \
         from which nothing can be learnt; hold out more with --calibrate-share, or leave --calibrate out"
    )]
    NothingToCalibrate { rows: u64, pairs: u64, positives: u64 },
}

impl ModuleError for EstimateError {}
