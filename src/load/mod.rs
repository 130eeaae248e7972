//! Loading the rows of this rank from HDF5 files: shards of marginals and labels, features, predictions.

mod examples;
mod memory_estimate;
mod open;
mod pack;
mod plan;
mod positives;
mod predictions;
mod read;

pub use examples::{Examples, ExamplesPlan, RowDistribution, plan_examples};
pub use memory_estimate::{ExtraMemory, memory_of_each_rank};
pub(crate) use open::rows_of_this_rank;
pub use plan::{LoadOptions, LoadPlan, LoadSummary, load_shard, plan_load};
pub use positives::{LabelCounts, total_positives};
pub use predictions::load_predictions;
pub use read::read_csr;
