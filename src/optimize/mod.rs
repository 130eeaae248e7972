//! Algorithm 1 of the paper: Frank-Wolfe over confusion tensors, one rule per iteration. [`fit`] runs it with checkpoints, so
//! that it can be stopped without loss.

mod brent;
mod checkpoint_codec;
mod column_space;
mod fit;
mod fit_data;
mod frank_wolfe;
mod initial;
mod iteration;
mod options;
mod oracle;
mod packed_counts;
mod phase_seconds;
mod problem;
mod root_solver;
mod state;
mod step_rule;
mod step_search;

#[cfg(test)]
mod tests;

pub use fit::{FinishedFit, fit};
pub use fit_data::{FitData, count_population};
pub use initial::InitialClassifier;
pub use iteration::Iteration;
pub use options::{Epsilon, FitConfig, FrankWolfeOptions, InitialSource};
pub use phase_seconds::PhaseSeconds;
pub use problem::{FitProblem, request_fingerprint};
pub use state::{EndReason, FitEnd, FitResult};
pub use step_rule::StepRule;
pub use step_search::{Step, best_step, best_step_batched};
