//! Algorithm 1 of the paper: Frank-Wolfe over confusion tensors, one rule an iteration.

mod climb;
mod frank_wolfe;
mod initial;
mod oracle;
mod seconds;
mod step;

#[cfg(test)]
mod tests;

pub use frank_wolfe::{Fit, Options, Stop, frank_wolfe, population};
pub use initial::Initial;
pub use seconds::Seconds;
pub use step::{Step, StepRule, best_step, best_step_together};
