//! Classifiers and how they predict. Independent of MPI and HDF5.
//!
//! A [`Rule`] is a linear classifier: a slope and an intercept for each label, of which it predicts the k labels with the
//! largest `slope * marginal + intercept`. A [`Mixture`] of weighted rules is the classifier that Frank-Wolfe finds; to
//! predict a row, one rule is drawn, or k labels by Madow's scheme ([`Sampling`]). Baselines ([`baseline_rule`]) are single rules.
//!
//! Counting the predictions of a rule over all rows is most of a fit's work ([`CountingPass`]). From the inside out:
//!
//! 1. `kernel` scores the stored entries of rows in single precision, with the vector instructions of the processor, and
//!    finds those that could be among the best k. Kernels may round differently.
//! 2. `row_top_k` decides between close scores in double precision, so that all kernels predict the same labels.
//! 3. `zero_labels` sorts the labels by intercept once for each rule. A row predicts a *zero label*, one that it does not
//!    store, with marginal 0, so it takes a prefix of that list; `merge_zero_labels` finds its length.
//! 4. `select` chooses the labels of many rows for counting, or sorts those of one row for prediction.
//! 5. `thread_counter` counts what one thread chooses, and `pass` distributes rows to threads.
//!
//! Ties go to the smaller label, counts are integers, and draws depend on the seed and the global row only. Results are
//! therefore the same for every kernel, number of threads and number of ranks.

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
pub use mixture::{Mixture, Sampling};
pub use pass::{CountingPass, DrawOptions, add_counts, count_positives, count_predictions, fold_predictions};
pub use rule::{Candidates, Rule};
pub use select::Pick;

#[cfg(test)]
mod kernel_equivalence_tests;
#[cfg(test)]
mod tests;
