//! The formula language of metrics: from text to tokens, to a syntax tree, to a tree bound to numbers.
//!
//! A formula has two levels. Inside an aggregation over labels (`macro( )`, `micro( )`, ...) the leaves are the cells tp, fp, fn
//! and tn of a label; outside, they are the values of the aggregations.

mod bound_tree;
mod catalogue;
mod error;
mod lexer;
mod parser;
mod program;
mod register;
mod syntax;
#[cfg(test)]
mod tests;
mod value_range;

pub(super) use bound_tree::{Node, lower};
pub use catalogue::catalogue_help;
#[cfg(test)]
pub(super) use catalogue::{EXAMPLES, GLOBAL_MEASURES, LABEL_MEASURES, NamedFormula};
pub use error::{FormulaError, FormulaErrorKind};
pub(super) use program::{Program, map_lanes};
pub(super) use register::DualRegister;
pub(super) use syntax::{AggregationKind, Expr, Formula};
pub(super) use value_range::ValueRange;

/// Parses a formula.
pub(super) fn parse(text: &str) -> Result<Formula, FormulaError> {
    parser::parse(text).map_err(|(fault, column)| FormulaError::new(fault, text, column))
}
