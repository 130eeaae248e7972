//! Splitting a data set into parts, the same for any number of ranks and threads.
//!
//! Who goes where depends on the seed, the fractions and, where parts are to be alike, the labels: rank 0 decides for
//! all rows ([`Split::assign`]). Then every rank reads its own rows once, deals them to the parts, and all parts appear
//! together or none does ([`SplitSource`], [`Parts`]).

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
pub use source::{ALL_ROLES, SourceGroup, SplitSource};
pub use stratify::stratify;

/// How rows are dealt to parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// At random.
    Plain,
    /// So that every label's positives are shared out as the rows are, the rarest labels first.
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

/// All that decides which row goes where, beside the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    pub fractions: Fractions,
    pub seed: u64,
    pub method: Method,
}
