//! What a run is told from outside while it works: signals, and how much time is left.
//!
//! Often only some ranks hear of it, so whether to stop is always asked of all of them together, at places where
//! stopping loses nothing: [`StopControl::stop_requested`].

mod control;
mod reason;
mod signals;
mod slurm_time;
mod time_limit;

pub use control::StopControl;
pub use reason::StopReason;
pub use signals::{exit_with_failure_on_abort, handle_signals, ignore_signals_once_stopped};
pub use time_limit::TimeLimit;
