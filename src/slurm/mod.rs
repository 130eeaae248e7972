//! Batch scripts for Slurm: those in `slurm/`, and those that `macrok slurm` writes for one command. All are made here
//! from the same parts, so that what is tested with the former holds for the latter.
//!
//! A script asks for tasks, CPUs and a signal before the end; starts macrok by `srun`; and when macrok stopped early puts
//! itself back into the queue, a limited number of times, to go on from the checkpoint.

mod bundled;
mod quote;
mod script;

pub use bundled::bundled_script;
pub use quote::shell_quoted;
pub use script::{JobRequest, Script, ScriptKind};
