//! Problems with ranks, threads and processors.

use super::examine::JobReport;
use super::findings::{Finding, host_list};
use super::hosts::Host;
use crate::format::count_noun;
use crate::machine::ThreadCountSource;

/// Returns the hosts for which `wrong` is true.
fn hosts_where<'h, 'j>(hosts: &'h [Host<'j>], wrong: impl Fn(&Host<'j>) -> bool) -> Vec<&'h Host<'j>> {
    hosts.iter().filter(|host| wrong(host)).collect()
}

pub(super) fn threads_not_as_requested(job: &JobReport) -> Option<Finding> {
    let (rank, warning) = job
        .ranks
        .iter()
        .enumerate()
        .find_map(|(rank, found)| Some((rank, found.threads.warnings.first()?)))?;
    Some(Finding::new(
        "threads-not-as-asked",
        format!("rank {rank}: {}", warning.problem()),
        warning.remedy(),
    ))
}

fn on_one_core(host: &Host<'_>) -> bool {
    host.ranks.len() > 1 && host.usable().len() == 1 && host.available() > 1
}

pub(super) fn one_core(job: &JobReport) -> Option<Finding> {
    let hosts = job.hosts();
    let wrong = hosts_where(&hosts, on_one_core);
    let host = wrong.first()?;
    Some(Finding::new(
        "one-core",
        format!(
            "{}: all {} are bound to processor {}, but the job has {} there",
            host_list(&wrong),
            count_noun(host.ranks.len(), "rank"),
            host.usable(),
            host.available()
        ),
        "bind each to its own: mpirun --bind-to core (MPICH: -bind-to core), srun --cpu-bind=cores; or to none: \
         mpirun --bind-to none",
    ))
}

pub(super) fn oversubscribed(job: &JobReport) -> Option<Finding> {
    let hosts = job.hosts();
    let wrong = hosts_where(&hosts, |host| host.threads() > host.usable().len() && !on_one_core(host));
    let host = wrong.first()?;
    Some(Finding::new(
        "oversubscribed",
        format!(
            "{}: {} with {} in all, but {} to run them on",
            host_list(&wrong),
            count_noun(host.ranks.len(), "rank"),
            count_noun(host.threads(), "thread"),
            count_noun(host.usable().len(), "processor"),
        ),
        "start fewer ranks, or give each fewer threads (--threads): ranks that wait for each other on one \
         processor can be many times slower",
    ))
}

pub(super) fn limited_time(job: &JobReport) -> Option<Finding> {
    let limit = |host: &Host<'_>| host.first().processors.quotas.first().map(|quota| quota.processors);
    let hosts = job.hosts();
    let wrong =
        hosts_where(&hosts, |host| limit(host).is_some_and(|limit| limit + 1e-6 < host.threads() as f64));
    let host = wrong.first()?;
    Some(Finding::new(
        "limited-time",
        format!(
            "{}: the job or container may use the time of {:.2} processors, but {} run",
            host_list(&wrong),
            limit(host)?,
            count_noun(host.threads(), "thread")
        ),
        "request more processors (Docker: --cpus, Kubernetes: limits.cpu), or start fewer ranks or threads",
    ))
}

pub(super) fn idle(job: &JobReport) -> Option<Finding> {
    let hosts = job.hosts();
    let wrong = hosts_where(&hosts, |host| 2 * host.threads() <= host.available() && !on_one_core(host));
    let host = wrong.first()?;
    let remedy = match &host.first().threads.reason {
        ThreadCountSource::Option => "raise --threads, or start more ranks".into(),
        ThreadCountSource::Variable(name) if host.first().threads.warnings.is_empty() => {
            format!("raise {name}, or start more ranks")
        }
        _ => "bind ranks to more processors (mpirun --bind-to none, or --map-by slot:PE=N; MPICH: -bind-to none; \
              srun --cpus-per-task=N), or start more ranks"
            .into(),
    };
    Some(Finding::new(
        "idle-processors",
        format!(
            "{}: {} in use, but {} for this job",
            host_list(&wrong),
            count_noun(host.threads(), "thread"),
            count_noun(host.available(), "processor")
        ),
        remedy,
    ))
}

pub(super) fn not_bound(job: &JobReport) -> Option<Finding> {
    let hosts = job.hosts();
    let wrong = hosts_where(&hosts, |host| {
        let processors = &host.first().processors;
        host.ranks.len() > 1
            && processors.sockets.max(processors.memory_nodes) > 1
            && host.ranks.iter().all(|rank| !rank.processors.is_bound())
    });
    let host = wrong.first()?;
    let processors = &host.first().processors;
    Some(Finding::new(
        "not-bound",
        format!(
            "{}: {} move freely between {} and {}, away from the memory that holds their rows",
            host_list(&wrong),
            count_noun(host.ranks.len(), "rank"),
            count_noun(processors.sockets, "socket"),
            count_noun(processors.memory_nodes, "memory node"),
        ),
        "bind them: mpirun --map-by numa --bind-to numa (MPICH: -bind-to numa), srun --cpu-bind=cores",
    ))
}
