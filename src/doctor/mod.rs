//! Diagnosis of a job: each rank collects facts and measures, rank 0 judges.
//!
//! [`examine`] collects facts and [`findings`] returns problems with remedies; [`print_report`] and [`report_json`] display
//! both.

mod environment;
mod examine;
mod files;
mod findings;
mod hosts;
mod output;
mod placement;
#[cfg(test)]
mod tests;

pub use examine::{ExamineRequest, JobReport, RankReport, examine};
pub use files::{PathUse, SeenPath};
pub use findings::{Finding, findings};
pub use hosts::Host;
pub use output::{print_report, report_json};
