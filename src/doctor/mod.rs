//! What this job is like, and what is wrong with it: each rank looks around and measures, rank 0 judges.
//!
//! [`examine`] finds facts, [`findings`] are the judgement, with a remedy each; [`print_report`] and [`report_json`] tell
//! people and programs.

mod environment;
mod examine;
mod files;
mod findings;
mod hosts;
mod output;
mod placement;
#[cfg(test)]
mod tests;

pub use examine::{ExamineRequest, JobReport, LoadCheck, RankReport, examine};
pub use files::{PathUse, SeenPath};
pub use findings::{Finding, findings};
pub use hosts::Host;
pub use output::{print_report, report_json};
