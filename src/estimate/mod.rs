//! Estimators of label probabilities: training, calibration, and the marginals they predict.
//!
//! [`plt`] trains label trees and, as a tree of one level, `linear`; [`mlp`] trains networks. Both give a
//! [`ModelFile`](crate::store::ModelFile), which a [`Model`] of any kind is read from for prediction.

mod calibrate;
mod error;
mod estimator_options;
pub mod mlp;
mod model;
pub mod plt;
mod top_marginals;
mod vector_math;

pub use calibrate::{CalibrationCounts, CalibrationOptions, CalibrationRows, calibrate, hold_out};
pub use error::EstimateError;
pub use estimator_options::{EstimatorOptions, TrainingRun};
pub use model::{Model, PredictOptions, predict_marginals};
pub use top_marginals::TopMarginals;
