//! Learning label probabilities: estimators, and the marginals they give.
//!
//! An estimator is trained by its own room ([`plt`] has the label trees, and with a tree of one group also `linear`,
//! [`mlp`] the networks), which gives a [`ModelFile`](crate::store::ModelFile). A [`Model`] is such a file made ready: it answers which labels
//! of a row have the largest marginals, whatever the estimator is.

mod calibrate;
mod error;
mod hold_out;
pub mod mlp;
mod model;
pub mod plt;
mod predict;
mod top_marginals;

pub use calibrate::{CalibrationCounts, CalibrationOptions, calibrate};
pub use error::EstimateError;
pub use hold_out::{CalibrationRows, hold_out};
pub use model::{Estimator, Model, PredictOptions};
pub use predict::predict_marginals;
pub use top_marginals::TopMarginals;
