//! Splitting a data set into parts, the same for any number of ranks and threads.
//!
//! Rank 0 assigns all rows, from the seed, the fractions and, for stratified parts, the labels ([`Split::assign`]). Then every
//! rank reads its own rows once and distributes them ([`SplitSource`], [`Parts`]). The parts appear together or not at all.

mod assign;
mod balance;
mod exchange;
mod fractions;
mod label_buckets;
mod origin;
mod parts;
mod source;
mod stratify;

#[cfg(test)]
mod tests;

pub use assign::{Assignment, random_order};
pub use balance::{Balance, balance};
pub use fractions::Fractions;
pub use origin::{Origin, RecordedSplit, read_recorded_split};
pub use parts::Parts;
pub use source::{SourceGroup, SplitSource};
pub use stratify::stratify;

/// The method of assigning rows to parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// At random.
    Plain,
    /// With every label's positives in the same proportions as the rows.
    Stratified,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::Plain => "plain",
            Method::Stratified => "stratified",
        }
    }
}

/// The options that decide, with the data, the part of every row.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    pub fractions: Fractions,
    pub seed: u64,
    pub method: Method,
}
