//! Errors in formulas, with their places.

use crate::error::ModuleError;

/// The deepest allowed nesting. Trees are walked by recursion, which must fit the small stack of a thread.
pub(super) const MAX_DEPTH: usize = 64;

/// The cause of a formula error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormulaErrorKind {
    #[error("the formula is empty; write a name such as `macro-f1`, or `help` for the list")]
    Empty,
    #[error("unknown name `{name}`{}", suggested(suggestion))]
    UnknownName { name: String, suggestion: Option<String> },
    #[error("unexpected character `{found}`{hint}")]
    UnexpectedCharacter { found: char, hint: &'static str },
    #[error("expected {expected}, but the formula ends")]
    UnexpectedEnd { expected: &'static str },
    #[error("expected {expected}, but found `{found}`")]
    Unexpected { expected: &'static str, found: String },
    #[error("this parenthesis is never closed; add `)`")]
    Unclosed,
    #[error("`{name}` takes {expected}, but got {found}")]
    Arguments { name: &'static str, expected: &'static str, found: usize },
    #[error(
        "`{name}` is a cell of one label and means nothing outside an aggregation; write macro({name}/...) or \
         micro({name}/...)"
    )]
    CellOutside { name: String },
    #[error(
        "`{name}` measures one label and means nothing outside an aggregation; write macro-{name} or micro-{name}"
    )]
    BinaryOutside { name: String },
    #[error(
        "`{name}` is an aggregation over labels, and aggregations cannot nest; write it outside, or a name of one label here"
    )]
    Nested { name: String },
    #[error("`{name}` aggregates over labels, but there is no tp, fp, fn or tn inside")]
    NothingToAggregate { name: String },
    #[error(
        "the formula is a constant; it needs an aggregation over labels such as macro(...) or `macro-f1`"
    )]
    Constant,
    #[error("{what} must be a constant, but this depends on the confusion tensor")]
    NotConstant { what: &'static str },
    #[error("division by zero")]
    DivisionByZero,
    #[error("the formula is nested deeper than {MAX_DEPTH} levels; write it flatter")]
    TooDeep,
}

fn suggested(suggestion: &Option<String>) -> String {
    match suggestion {
        Some(name) => format!("; did you mean `{name}`?"),
        None => "; the list of names is shown by `help`".to_string(),
    }
}

/// An error in a formula. It is displayed as a message, the formula, and a caret under the place of the error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}\n  {}\n  {:column$}^", printable(formula), "")]
pub struct FormulaError {
    fault: FormulaErrorKind,
    formula: String,
    column: usize,
}

impl FormulaError {
    pub(super) fn new(fault: FormulaErrorKind, formula: &str, column: usize) -> FormulaError {
        FormulaError { fault, formula: formula.to_string(), column }
    }

    pub fn kind(&self) -> &FormulaErrorKind {
        &self.fault
    }

    /// The place of the error, in characters from 0.
    pub fn column(&self) -> usize {
        self.column
    }
}

/// Replaces tabs and line breaks, which would move the caret.
fn printable(formula: &str) -> String {
    formula.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl ModuleError for FormulaError {}
