//! Who looks at a fit.

use super::state::State;

/// Is told, on rank 0 only, what goes on.
pub trait Observer {
    /// Where the fit begins; `resumed` when an earlier run came to there.
    fn began(&mut self, _state: &State, _resumed: bool) {}

    /// A step was taken.
    fn stepped(&mut self, _state: &State) {}

    /// Something the user should know but need not stop for.
    fn warn(&mut self, _text: &str) {}
}

/// Nobody looks.
impl Observer for () {}
