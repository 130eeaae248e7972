//! Loading the rows of this rank from HDF5 files: shards of marginals and labels, features, predictions.

mod examples;
mod need;
mod pack;
mod predictions;
mod shard;

pub use examples::{Examples, Held, load_examples};
pub use need::needs_of;
pub use predictions::{Predicted, load_predictions};
pub use shard::{
    Extra, LoadOptions, Plan, load_labels, load_planned, load_shard, plan_load, total_positives,
};
