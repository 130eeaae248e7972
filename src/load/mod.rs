//! Loading the rows of this rank from HDF5 files: shards of marginals and labels, features, predictions.

mod examples;
mod memory_estimate;
mod pack;
mod predictions;
mod shard;

pub use examples::{Examples, RowDistribution, load_examples};
pub use memory_estimate::memory_of_each_rank;
pub use predictions::{PredictionShard, load_predictions};
pub use shard::{
    ExtraMemory, LoadOptions, LoadPlan, load_labels, load_shard, load_shard_with_plan, plan_load,
    total_positives,
};
