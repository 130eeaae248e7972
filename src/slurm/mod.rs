//! Batch scripts for Slurm: those in `slurm/`, and those that `macrok slurm` writes for one command, from the same parts.
//!
//! A script requests tasks, CPUs and a signal before the end, starts macrok by `srun`, and when macrok stops early requeues
//! itself, a limited number of times, to resume from the checkpoint.

mod bundled;
mod quote;
mod script;

pub use bundled::bundled_script;
pub use quote::{shell_line, shell_quoted};
pub use script::{JobRequest, Script, ScriptKind};
