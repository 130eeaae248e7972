//! Rules that pick k labels, mixtures of them, and how one prediction is drawn. Knows neither MPI
//! nor HDF5.

mod baseline;
mod madow;
mod mixture;
mod pass;
mod rule;
mod select;

pub use baseline::{Constants, Strategy, baseline, propensities};
pub use madow::Inclusion;
pub use mixture::{Mixture, Sampling};
pub use pass::{add_counts, count, count_positives, fold_blocks, predict};
pub use rule::{Candidates, Rule};
pub use select::{Pick, Prepared, Selector};

#[cfg(test)]
mod tests;
