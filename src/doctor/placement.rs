//! What can be wrong with ranks, threads and processors.

use super::examine::Job;
use super::findings::{Finding, counted, places};
use super::hosts::Host;
use crate::machine::Reason;

/// The hosts of which something is true.
fn those<'h, 'j>(hosts: &'h [Host<'j>], wrong: impl Fn(&Host<'j>) -> bool) -> Vec<&'h Host<'j>> {
    hosts.iter().filter(|host| wrong(host)).collect()
}

pub(super) fn threads_not_as_asked(job: &Job) -> Option<Finding> {
    let (rank, remark) = job
        .ranks
        .iter()
        .enumerate()
        .find_map(|(rank, found)| Some((rank, found.threads.remarks.first()?)))?;
    Some(Finding::new("threads-not-as-asked", format!("rank {rank}: {}", remark.found()), remark.remedy()))
}

fn on_one_core(host: &Host<'_>) -> bool {
    host.ranks.len() > 1 && host.usable().len() == 1 && host.available() > 1
}

pub(super) fn one_core(job: &Job) -> Option<Finding> {
    let hosts = job.hosts();
    let wrong = those(&hosts, on_one_core);
    let host = wrong.first()?;
    Some(Finding::new(
        "one-core",
        format!(
            "{}: all {} are bound to processor {}, but the job has {} there",
            places(&wrong),
            counted(host.ranks.len(), "rank"),
            host.usable(),
            host.available()
        ),
        "bind each to its own: mpirun --bind-to core (MPICH: -bind-to core), srun --cpu-bind=cores; or to none: \
         mpirun --bind-to none",
    ))
}

pub(super) fn oversubscribed(job: &Job) -> Option<Finding> {
    let hosts = job.hosts();
    let wrong = those(&hosts, |host| host.threads() > host.usable().len() && !on_one_core(host));
    let host = wrong.first()?;
    Some(Finding::new(
        "oversubscribed",
        format!(
            "{}: {} with {} in all, but {} to run them on",
            places(&wrong),
            counted(host.ranks.len(), "rank"),
            counted(host.threads(), "thread"),
            counted(host.usable().len(), "processor"),
        ),
        "start fewer ranks, or give each fewer threads (--threads): ranks that wait for each other on one \
         processor can be many times slower",
    ))
}

pub(super) fn limited_time(job: &Job) -> Option<Finding> {
    let limit = |host: &Host<'_>| host.first().processors.quotas.first().map(|quota| quota.processors);
    let hosts = job.hosts();
    let wrong = those(&hosts, |host| limit(host).is_some_and(|limit| limit + 1e-6 < host.threads() as f64));
    let host = wrong.first()?;
    Some(Finding::new(
        "limited-time",
        format!(
            "{}: the limit of the job or container leaves the time of {:.2} processors, but {} run",
            places(&wrong),
            limit(host)?,
            counted(host.threads(), "thread")
        ),
        "ask for more processors (Docker: --cpus, Kubernetes: limits.cpu), or start fewer ranks or threads",
    ))
}

pub(super) fn idle(job: &Job) -> Option<Finding> {
    let hosts = job.hosts();
    let wrong = those(&hosts, |host| 2 * host.threads() <= host.available() && !on_one_core(host));
    let host = wrong.first()?;
    let remedy = match &host.first().threads.reason {
        Reason::Option => "raise --threads, or start more ranks".into(),
        Reason::Variable(name) if host.first().threads.remarks.is_empty() => {
            format!("raise {name}, or start more ranks")
        }
        _ => "bind ranks to more processors (mpirun --bind-to none, or --map-by slot:PE=N; MPICH: -bind-to none; \
              srun --cpus-per-task=N), or start more ranks"
            .into(),
    };
    Some(Finding::new(
        "idle-processors",
        format!(
            "{}: {} at work, but {} for this job",
            places(&wrong),
            counted(host.threads(), "thread"),
            counted(host.available(), "processor")
        ),
        remedy,
    ))
}

pub(super) fn not_bound(job: &Job) -> Option<Finding> {
    let hosts = job.hosts();
    let wrong = those(&hosts, |host| {
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
            places(&wrong),
            counted(host.ranks.len(), "rank"),
            counted(processors.sockets, "socket"),
            counted(processors.memory_nodes, "memory node"),
        ),
        "bind them: mpirun --map-by numa --bind-to numa (MPICH: -bind-to numa), srun --cpu-bind=cores",
    ))
}
