//! The classifier file: rules, weights, and how they were found.

mod fit;
mod layout;
mod mixture;

pub use layout::ClassifierFile;
