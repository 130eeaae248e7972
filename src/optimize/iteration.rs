//! The record of one step.

/// One step of the optimisation, as recorded in the file and printed on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Iteration {
    /// Utility after the step.
    pub utility: f64,
    /// Share of the new rule in the mixture.
    pub step: f64,
    /// Frank-Wolfe gap before the step.
    pub gap: f64,
    pub seconds: f64,
}
