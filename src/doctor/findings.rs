//! All checks, in the order in which problems should be solved.

use serde::Serialize;

use super::examine::JobReport;
use super::hosts::Host;
use super::{environment, placement};
use crate::format::count_noun;

/// A problem that makes a run slow, wrong or impossible, and its remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// An identifier for programs, which does not change between versions.
    pub name: &'static str,
    pub text: String,
    pub remedy: String,
}

pub(super) fn finding(
    name: &'static str,
    text: impl Into<String>,
    remedy: impl Into<String>,
) -> Option<Finding> {
    Some(Finding { name, text: text.into(), remedy: remedy.into() })
}

/// Returns all problems of a job, each kind once.
pub fn findings(job: &JobReport) -> Vec<Finding> {
    let checks: [fn(&JobReport) -> Option<Finding>; 21] = [
        environment::other_number_of_ranks,
        environment::rushed_start,
        environment::debug_build,
        placement::threads_not_as_requested,
        placement::one_core,
        placement::oversubscribed,
        placement::limited_time,
        placement::idle,
        placement::not_bound,
        environment::data_not_everywhere,
        environment::output_not_shared,
        environment::locks,
        environment::files_in_memory,
        environment::address_space,
        environment::locked_memory,
        environment::small_pages,
        environment::slow_kernel,
        environment::kernels_differ,
        environment::libraries_differ,
        environment::host_names,
        environment::clocks,
    ];
    checks.iter().filter_map(|check| check(job)).collect()
}

/// Formats the first host and the number of the others: `n1 (and 2 other hosts)`.
pub(super) fn host_list(hosts: &[&Host<'_>]) -> String {
    let name = hosts.first().map_or("", |host| host.name);
    match hosts.len() {
        0 | 1 => name.to_owned(),
        more => format!("{name} (and {})", count_noun(more - 1, "other host")),
    }
}
