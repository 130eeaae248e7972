//! What is wrong, in the order in which it should be put right.

use serde::Serialize;

use super::examine::Job;
use super::hosts::Host;
use super::{placement, surroundings};

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
pub fn findings(job: &Job) -> Vec<Finding> {
    let checks: [fn(&Job) -> Option<Finding>; 22] = [
        surroundings::without_mpi,
        surroundings::other_number_of_ranks,
        surroundings::rushed_start,
        surroundings::debug_build,
        placement::threads_not_as_asked,
        placement::one_core,
        placement::oversubscribed,
        placement::limited_time,
        placement::idle,
        placement::not_bound,
        surroundings::data_not_everywhere,
        surroundings::output_not_shared,
        surroundings::locks,
        surroundings::files_in_memory,
        surroundings::address_space,
        surroundings::locked_memory,
        surroundings::small_pages,
        surroundings::slow_kernel,
        surroundings::kernels_differ,
        surroundings::libraries_differ,
        surroundings::host_names,
        surroundings::clocks,
    ];
    checks.iter().filter_map(|check| check(job)).collect()
}

/// The first of the hosts that something is wrong with, and how many there are besides: `n1 (and 2 other hosts)`.
pub(super) fn places(hosts: &[&Host<'_>]) -> String {
    let name = hosts.first().map_or("", |host| host.name);
    match hosts.len() {
        0 | 1 => name.to_owned(),
        2 => format!("{name} (and 1 other host)"),
        more => format!("{name} (and {} other hosts)", more - 1),
    }
}

/// `1 rank`, `3 ranks`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
