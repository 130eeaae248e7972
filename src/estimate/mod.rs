//! Learning label probabilities: estimators, and the marginals they give.
//!
//! An estimator is trained by its own room ([`plt`] has the label trees, and with a tree of one group also `linear`,
//! [`mlp`] the networks), which gives a [`ModelFile`](crate::store::ModelFile). A [`Model`] is such a file made ready: it answers which labels
//! of a row have the largest marginals, whatever the estimator is. [`Saving`] keeps how far a training has come.

mod calibrate;
mod error;
mod hold_out;
mod kept;
mod marginals;
pub mod mlp;
mod model;
pub mod plt;
mod rows;
mod saving;
mod watch;

pub use calibrate::{Calibrate, Calibrated, calibrate};
pub use error::EstimateError;
pub use hold_out::{HeldOut, hold_out};
pub use kept::Kept;
pub use marginals::marginals_of;
pub use model::{Ask, Estimator, Model};
pub use rows::Rows;
pub use saving::{Saved, Saving};
pub use watch::Watch;
