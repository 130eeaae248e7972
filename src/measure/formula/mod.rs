//! The formula language of metrics: text to tokens, to a syntax tree, to a tree that is bound to numbers.
//!
//! A formula has two levels. Inside an aggregation over labels (`macro( )`, `micro( )`, ...) the leaves are
//! the cells tp, fp, fn, tn of one label; outside of it they are the values of the aggregations.

mod catalogue;
mod column;
mod error;
mod lexer;
mod node;
mod parser;
mod program;
mod range;
mod syntax;
#[cfg(test)]
mod tests;

pub use catalogue::catalogue_help;
#[cfg(test)]
pub(super) use catalogue::{BINARY, EXAMPLES, Entry, WHOLE};
pub(super) use column::DualColumn;
pub use error::{Fault, FormulaError};
pub(super) use node::{Node, lower};
pub(super) use program::{Program, each};
pub(super) use range::ValueRange;
pub(super) use syntax::{Expr, Formula, Kind};

/// Reads a formula.
pub(super) fn parse(text: &str) -> Result<Formula, FormulaError> {
    parser::parse(text).map_err(|(fault, column)| FormulaError::new(fault, text, column))
}
