//! What this job is like, and what is wrong with it: each rank looks around and measures, rank 0 judges.
//!
//! [`examine`] finds facts, [`findings`] are the judgement, with a remedy each; [`show`] and [`facts_json`] tell
//! people and programs.

mod examine;
mod files;
mod findings;
mod hosts;
mod placement;
mod show;
mod surroundings;
#[cfg(test)]
mod tests;

pub use examine::{Asked, Found, Job, Memory, examine};
pub use files::{Seen, Use};
pub use findings::{Finding, findings};
pub use hosts::Host;
pub use show::{facts_json, show};
