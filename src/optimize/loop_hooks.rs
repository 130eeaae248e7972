//! What happens around the loop.

use super::state::{FitState, IterationCursor};
use crate::error::Result;

/// Sees a search go on, and may end it. All its methods do nothing unless said otherwise.
pub trait LoopHooks {
    /// Before every iteration: a place at which stopping loses nothing. The state is rank 0's. Collective; an error,
    /// which must be the same on all ranks, ends the search.
    fn before_iteration(&mut self, _cursor: IterationCursor, _state: Option<&FitState>) -> Result<()> {
        Ok(())
    }

    /// Whether states are going to be saved: then they must have all that this takes.
    fn saves_checkpoints(&self) -> bool {
        false
    }

    /// A step was taken. On rank 0 only.
    fn step_taken(&mut self, _state: &FitState) {}
}

/// Nobody looks.
impl LoopHooks for () {}
