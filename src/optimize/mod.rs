//! Algorithm 1 of the paper: Frank-Wolfe over confusion tensors, one rule an iteration; and [`fit`], which runs it so that
//! nothing is lost when it is stopped.

mod brent;
mod checkpoint_codec;
mod checkpoint_hooks;
mod checkpoint_policy;
mod column_space;
mod fit;
mod fit_config;
mod fit_data;
mod frank_wolfe;
mod initial;
mod iteration;
mod loop_hooks;
mod observer;
mod oracle;
mod packed_counts;
mod phase_seconds;
mod problem;
mod state;
mod step_search;

#[cfg(test)]
mod tests;

pub use checkpoint_policy::{CheckpointPolicy, ExistingCheckpoint};
pub use fit::{FinishedFit, fit};
pub use fit_config::{Epsilon, FitConfig, InitialSource};
pub use fit_data::FitData;
pub use frank_wolfe::{EndReason, FitResult, FrankWolfeOptions, Start, count_population, frank_wolfe};
pub use initial::InitialClassifier;
pub use iteration::Iteration;
pub use loop_hooks::LoopHooks;
pub use observer::Observer;
pub use phase_seconds::PhaseSeconds;
pub use problem::{FitProblem, request_fingerprint};
pub use state::{FitState, IterationCursor};
pub use step_search::{Step, StepRule, best_step, best_step_batched};
