//! Problems with ranks, threads and processors.

use super::examine::JobReport;
use super::findings::{Finding, finding, host_list};
use super::hosts::Host;
use crate::format::count_noun;
use crate::machine::ThreadCountSource;

/// Returns the finding on the first host for which `wrong` is true; `check` also gets the names of all such hosts.
fn first_host_finding(
    job: &JobReport,
    wrong: impl Fn(&Host<'_>) -> bool,
    check: impl FnOnce(&Host<'_>, String) -> Option<Finding>,
) -> Option<Finding> {
    let hosts = job.hosts();
    let wrong: Vec<&Host<'_>> = hosts.iter().filter(|host| wrong(host)).collect();
    check(wrong.first()?, host_list(&wrong))
}

pub(super) fn threads_not_as_requested(job: &JobReport) -> Option<Finding> {
    let mut ranks = job.ranks.iter().enumerate();
    let (rank, warning) = ranks.find_map(|(rank, report)| Some((rank, report.threads.warnings.first()?)))?;
    finding("threads-not-as-asked", format!("rank {rank}: {}", warning.problem), &warning.remedy)
}

fn on_one_core(host: &Host<'_>) -> bool {
    host.ranks.len() > 1 && host.usable().len() == 1 && host.available() > 1
}

pub(super) fn one_core(job: &JobReport) -> Option<Finding> {
    first_host_finding(job, on_one_core, |host, names| {
        let (ranks, core, all) = (count_noun(host.ranks.len(), "rank"), host.usable(), host.available());
        finding(
            "one-core",
            format!("{names}: all {ranks} are bound to processor {core}, but the job has {all} there"),
            "bind each to its own: mpirun --bind-to core (MPICH: -bind-to core), srun --cpu-bind=cores; or to none: \
             mpirun --bind-to none",
        )
    })
}

pub(super) fn oversubscribed(job: &JobReport) -> Option<Finding> {
    let wrong = |host: &Host<'_>| host.threads() > host.usable().len() && !on_one_core(host);
    first_host_finding(job, wrong, |host, names| {
        let (ranks, threads) = (count_noun(host.ranks.len(), "rank"), count_noun(host.threads(), "thread"));
        let processors = count_noun(host.usable().len(), "processor");
        finding(
            "oversubscribed",
            format!("{names}: {ranks} with {threads} in all, but {processors} to run them on"),
            "start fewer ranks, or give each fewer threads (--threads): ranks that wait for each other on one \
             processor can be many times slower",
        )
    })
}

pub(super) fn limited_time(job: &JobReport) -> Option<Finding> {
    let limit = |host: &Host<'_>| host.first().processors.quotas.first().map(|quota| quota.processors);
    let wrong = |host: &Host<'_>| limit(host).is_some_and(|limit| limit + 1e-6 < host.threads() as f64);
    first_host_finding(job, wrong, |host, names| {
        let (limit, threads) = (limit(host)?, count_noun(host.threads(), "thread"));
        finding(
            "limited-time",
            format!(
                "{names}: the job or container may use the time of {limit:.2} processors, but {threads} run"
            ),
            "request more processors (Docker: --cpus, Kubernetes: limits.cpu), or start fewer ranks or threads",
        )
    })
}

pub(super) fn idle(job: &JobReport) -> Option<Finding> {
    let wrong = |host: &Host<'_>| 2 * host.threads() <= host.available() && !on_one_core(host);
    first_host_finding(job, wrong, |host, names| {
        let remedy = match &host.first().threads.reason {
            ThreadCountSource::Option => "raise --threads, or start more ranks".into(),
            ThreadCountSource::Variable(name) if host.first().threads.warnings.is_empty() => {
                format!("raise {name}, or start more ranks")
            }
            _ => "bind ranks to more processors (mpirun --bind-to none, or --map-by slot:PE=N; MPICH: -bind-to none; \
                  srun --cpus-per-task=N), or start more ranks"
                .into(),
        };
        let threads = count_noun(host.threads(), "thread");
        let processors = count_noun(host.available(), "processor");
        finding(
            "idle-processors",
            format!("{names}: {threads} in use, but {processors} for this job"),
            remedy,
        )
    })
}

pub(super) fn not_bound(job: &JobReport) -> Option<Finding> {
    let wrong = |host: &Host<'_>| {
        let processors = &host.first().processors;
        host.ranks.len() > 1
            && processors.sockets.max(processors.memory_nodes) > 1
            && host.ranks.iter().all(|rank| !rank.processors.is_bound())
    };
    first_host_finding(job, wrong, |host, names| {
        let (ranks, processors) = (count_noun(host.ranks.len(), "rank"), &host.first().processors);
        let sockets = count_noun(processors.sockets, "socket");
        let nodes = count_noun(processors.memory_nodes, "memory node");
        finding(
            "not-bound",
            format!(
                "{names}: {ranks} move freely between {sockets} and {nodes}, away from the memory that holds their rows"
            ),
            "bind them: mpirun --map-by numa --bind-to numa (MPICH: -bind-to numa), srun --cpu-bind=cores",
        )
    })
}
