//! What a run is told from outside while it works: signals, and how much time is left.
//!
//! Often only some ranks hear of it, so whether to stop is always asked of all of them together, at places where
//! stopping loses nothing: [`Control::asked`].

mod control;
mod reason;
mod signals;
mod slurm;
mod time_limit;

pub use control::Control;
pub use reason::Reason;
pub use signals::{abort_as_failure, leave_in_order, listen};
pub use time_limit::TimeLimit;
