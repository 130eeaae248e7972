//! Rules that pick k labels, mixtures of them, and how one prediction is drawn. Knows neither MPI
//! nor HDF5.

mod baseline;
mod kernel;
mod kth_score;
mod madow;
mod merge_zero_labels;
mod mixture;
mod pass;
mod prepared_rule;
mod row_top_k;
mod rule;
mod select;
mod thread_counter;
mod zero_labels;

pub use baseline::{BaselineConstants, BaselineStrategy, baseline_rule, propensities};
pub use kernel::Kernel;
pub use madow::MadowSampler;
pub use mixture::{Mixture, Sampling};
pub use pass::{
    CountingPass, DrawOptions, add_counts, count_positives, count_predictions, fold_predictions, predict,
};
pub use prepared_rule::PreparedRule;
pub use rule::{Candidates, Rule};
pub use select::{Pick, Selector};

#[cfg(test)]
mod kernel_equivalence_tests;
#[cfg(test)]
mod tests;
