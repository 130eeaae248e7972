//! Signals and the time left, which may end a run early.
//!
//! A request may reach some ranks only, so all ranks decide together, at places where stopping loses nothing:
//! [`StopControl::stop_requested`].

mod control;
mod reason;
mod signals;
mod slurm_time;
mod time_limit;

pub use control::StopControl;
pub use reason::StopReason;
pub use signals::{exit_with_failure_on_abort, handle_signals, ignore_signals_once_stopped};
pub use time_limit::TimeLimit;
