//! Errors of metrics on data.

use crate::error::ModuleError;

/// A metric without a finite value or gradient at the current tensor of a search.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeasureError {
    #[error(
        "metric `{metric}`: the value is {value}, but the search needs a finite number; look for a division by \
         zero, the log of a negative number or an exp that overflows"
    )]
    Value { metric: String, value: f64 },
    #[error(
        "metric `{metric}`: the gradient at label {label} (counted from 0) is not finite: slope {slope}, intercept \
         {intercept}, where tp {}, fp {}, fn {}, tn {} (fractions of the rows); pass a larger --epsilon, or rewrite \
         the part of the formula that is unbounded there",
        cells[0], cells[1], cells[2], cells[3]
    )]
    Gradient { metric: String, label: usize, cells: [f64; 4], slope: f64, intercept: f64 },
}

impl ModuleError for MeasureError {}
