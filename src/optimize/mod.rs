//! Algorithm 1 of the paper: Frank-Wolfe over confusion tensors, one rule an iteration; and [`fit`], which runs it so that
//! nothing is lost when it is stopped.

mod answer;
mod around;
mod climb;
mod data;
mod fit;
mod frank_wolfe;
mod initial;
mod iteration;
mod keep;
mod keeper;
mod observer;
mod oracle;
mod saved;
mod scope;
mod search;
mod seconds;
mod state;
mod step;
mod task;

#[cfg(test)]
mod tests;

pub use around::Around;
pub use data::Data;
pub use fit::{Finished, fit};
pub use frank_wolfe::{Fit, Options, Start, Stop, frank_wolfe, population};
pub use initial::Initial;
pub use iteration::Iteration;
pub use keep::{Existing, Keep};
pub use observer::Observer;
pub use search::{Epsilon, Origin, Search};
pub use seconds::Seconds;
pub use state::{State, Turn};
pub use step::{Step, StepRule, best_step, best_step_together};
pub use task::{Task, asked};
