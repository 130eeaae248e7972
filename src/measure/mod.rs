//! What is maximised: confusion tensors, metrics as formulas over them, and exact gradients.
//!
//! A [`Metric`] is parsed from text, bound to a budget `k` and an `epsilon` as an [`Objective`], and then
//! evaluated on [`Tensor`]s. Its [`Gradient`] gives the slopes and intercepts of the next classifier
//! (Algorithm 1, lines 7 and 8).

mod aggregate;
mod blocks;
mod confusion;
mod error;
pub mod formula;
mod found;
mod gradient;
mod metric;
pub mod monotone;
pub mod number;
mod objective;
mod segment;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use blocks::fill_blocks;
pub use confusion::{Counts, Population, Tensor};
pub use error::MeasureError;
pub use formula::{FormulaError, catalogue_help};
pub use found::SegmentSpace;
pub use gradient::Gradient;
pub(crate) use gradient::{larger, largest};
pub use metric::Metric;
pub use objective::Objective;
pub use segment::Segment;
