//! The maximised quantity: confusion tensors, metrics as formulas over them, and exact gradients.
//!
//! A [`Metric`] is parsed from text, bound to a budget `k` and an `epsilon` as an [`Objective`], and then
//! evaluated on [`ConfusionTensor`]s. Its [`Gradient`] gives the slopes and intercepts of the next classifier
//! (Algorithm 1, lines 7 and 8).

mod active_labels;
mod aggregate;
mod confusion;
mod error;
pub mod formula;
mod gradient;
mod label_blocks;
mod metric;
pub mod monotone;
pub mod number;
mod objective;
mod segment;
mod tensor_view;
#[cfg(test)]
mod tests;

pub use active_labels::SegmentBuffers;
pub use confusion::{ConfusionCounts, ConfusionTensor, Population};
pub use error::MeasureError;
pub use formula::{FormulaError, catalogue_help};
pub use gradient::Gradient;
pub(crate) use gradient::{larger_magnitude, max_abs};
pub(crate) use label_blocks::fill_blocks;
pub use metric::Metric;
pub use objective::Objective;
pub use segment::Segment;
