//! What is wrong, in the order in which it should be put right.

use serde::Serialize;

use super::examine::JobReport;
use super::hosts::Host;
use super::{environment, placement};

/// Something that makes a run slow, wrong or impossible, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// For programs; does not change.
    pub name: &'static str,
    pub text: String,
    pub remedy: String,
}

impl Finding {
    pub(super) fn new(name: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { name, text: text.into(), remedy: remedy.into() }
    }
}

/// Everything that is wrong with a job, each kind once.
pub fn findings(job: &JobReport) -> Vec<Finding> {
    let checks: [fn(&JobReport) -> Option<Finding>; 22] = [
        environment::without_mpi,
        environment::other_number_of_ranks,
        environment::rushed_start,
        environment::debug_build,
        placement::threads_not_as_asked,
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

/// The first of the hosts that something is wrong with, and how many there are besides: `n1 (and 2 other hosts)`.
pub(super) fn host_list(hosts: &[&Host<'_>]) -> String {
    let name = hosts.first().map_or("", |host| host.name);
    match hosts.len() {
        0 | 1 => name.to_owned(),
        2 => format!("{name} (and 1 other host)"),
        more => format!("{name} (and {} other hosts)", more - 1),
    }
}

/// `1 rank`, `3 ranks`.
pub(super) fn count_noun(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
