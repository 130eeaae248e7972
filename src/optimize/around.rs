//! What happens around the loop.

use super::state::{State, Turn};
use crate::error::Result;

/// Sees a search go on, and may end it. All its methods do nothing unless said otherwise.
pub trait Around {
    /// Before every iteration: a place at which stopping loses nothing. The state is rank 0's. Collective; an error,
    /// which must be the same on all ranks, ends the search.
    fn between(&mut self, _turn: Turn, _state: Option<&State>) -> Result<()> {
        Ok(())
    }

    /// Whether states are going to be saved: then they must have all that this takes.
    fn saves(&self) -> bool {
        false
    }

    /// A step was taken. On rank 0 only.
    fn stepped(&mut self, _state: &State) {}
}

/// Nobody looks.
impl Around for () {}
