//! The record of one iteration, and its row in the table of progress.

use super::step_search::Step;
use crate::format::format_seconds;

/// One step, as recorded in the classifier file.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Iteration {
    /// Utility after the step.
    pub utility: f64,
    /// Weight of the new rule in the mixture.
    pub step: f64,
    /// Frank-Wolfe gap before the step.
    pub gap: f64,
    pub seconds: f64,
}

pub(super) const TABLE_HEADER: &str =
    "iteration       utility         gain       step          gap      time";

/// A note below the table.
pub(super) const NEGATIVE_GAP: &str =
    "negative gap: the rule is the best by the marginals, but at first worse by the true labels";

/// Formats the row of a rule that was step `number` or not taken. Rules of a smoothed gradient have no gap.
pub(super) fn table_row(
    number: Option<usize>,
    step: Step,
    gain: f64,
    gap: Option<f64>,
    seconds: f64,
) -> String {
    let number = number.map_or("not taken".into(), |number| number.to_string());
    let gap = gap.map_or("smoothed".into(), |gap| format!("{gap:+.2e}"));
    let time = format_seconds(seconds);
    format!("{number:>9}  {:>12.8}  {gain:>+11.2e}  {:>9.6}  {gap:>11}  {time:>8}", step.value, step.size)
}
