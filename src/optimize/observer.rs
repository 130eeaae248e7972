//! Who looks at a fit.

use super::state::FitState;

/// Is told, on rank 0 only, what goes on.
pub trait Observer {
    /// Where the fit begins; `resumed` when an earlier run came to there.
    fn fit_started(&mut self, _state: &FitState, _resumed: bool) {}

    /// A step was taken.
    fn step_taken(&mut self, _state: &FitState) {}

    /// Something the user should know but need not stop for.
    fn warn(&mut self, _text: &str) {}
}

/// Nobody looks.
impl Observer for () {}
