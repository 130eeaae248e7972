//! Rules that pick k labels, mixtures of them, and how one prediction is drawn. Knows neither MPI
//! nor HDF5.

mod baseline;
mod counter;
mod kernel;
mod madow;
mod merge;
mod mixture;
mod pass;
mod prepared;
mod rule;
mod select;
mod stored;
mod threshold;
mod unstored;

pub use baseline::{Constants, Strategy, baseline, propensities};
pub use kernel::Kernel;
pub use madow::Inclusion;
pub use mixture::{Mixture, Sampling};
pub use pass::{Draw, Pass, add_counts, count, count_positives, fold_draws, predict};
pub use prepared::Prepared;
pub use rule::{Candidates, Rule};
pub use select::{Pick, Selector};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod twins;
