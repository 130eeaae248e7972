//! Display of facts and findings, as text and as JSON.

use serde_json::{Value, json};

use super::examine::JobReport;
use super::files::PathUse;
use super::findings::Finding;
use super::hosts::Host;
use crate::format::{count_noun, format_bytes, format_count, format_seconds};
use crate::report::{Console, Table};
use crate::store::{library_is_thread_safe, reads_without_locks};
use crate::world::mpi_standard;

/// With more hosts than this, similar ones share a row.
const MAX_HOST_ROWS: usize = 20;

/// Prints the report and the findings.
pub fn print_report(console: &Console, job: &JobReport, findings: &[Finding]) {
    let build = if cfg!(debug_assertions) { ", debug build" } else { "" };
    let first = &job.ranks[0];
    let hosts = job.hosts();
    console.line(format_args!("macrok {}{build}, {} kernel", env!("CARGO_PKG_VERSION"), first.kernel));
    console.line(format_args!("MPI: {}", mpi_text(&first.mpi)));
    console.line(format_args!("HDF5: {}, {}", first.hdf5, hdf5_text()));
    console.line(format_args!(
        "job: {} on {}, {}",
        count_noun(job.ranks.len(), "rank"),
        count_noun(hosts.len(), "host"),
        first.launcher
    ));
    console.line(format_args!("threads: {}", threads_text(job)));
    console.line("");
    console.line(host_table(&hosts));
    console.line("");
    console.line(file_table(job));
    console.line("");
    console.line(match &job.plan {
        None => "memory: name the data to load with --data, to see what they need".into(),
        Some(Ok(plan)) => format!(
            "memory: {} instances x {} labels, {} stored; a fit needs {}",
            format_count(plan.rows),
            format_count(plan.labels),
            format_count(plan.entries),
            plan.memory
        ),
        Some(Err(_)) => "memory: the data cannot be loaded, see the error below".into(),
    });
    if let Some(time) = &job.allreduce {
        console.line(format_args!(
            "allreduce: 8 bytes in {}, counts of {} labels ({}) in {}",
            format_seconds(time.latency_seconds),
            format_count(time.labels as u64),
            format_bytes(time.bytes),
            format_seconds(time.seconds)
        ));
    }
    console.line("");
    match findings.len() {
        0 => console.line("no warnings"),
        found => console.line(format_args!("{}:", count_noun(found, "warning"))),
    }
    for Finding { name, text, remedy } in findings {
        console.line(format_args!("- {name}: {text}\n  what to do: {remedy}"));
    }
}

/// Returns the name and version without the date and machine of the build, which some libraries add.
fn mpi_text(library: &str) -> String {
    let name = library.split(',').next().unwrap_or_default();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    mpi_standard().map_or(name.clone(), |(major, minor)| format!("{name}, standard {major}.{minor}"))
}

fn hdf5_text() -> String {
    let safe = if library_is_thread_safe() { "thread-safe" } else { "one thread at a time" };
    let locks =
        if reads_without_locks() { "no locks on network file systems" } else { "locks wherever it reads" };
    format!("{safe}, {locks}")
}

/// Formats the threads of rank 0, and the number of ranks that differ: `2 per rank: the rank's share of ...`.
fn threads_text(job: &JobReport) -> String {
    let first = &job.ranks[0].threads;
    let others = job.ranks.iter().filter(|rank| rank.threads.count != first.count).count();
    let differ = match others {
        0 => String::new(),
        others => {
            format!(" (rank 0; {others} of {} have another number)", count_noun(job.ranks.len(), "rank"))
        }
    };
    format!("{} per rank: {}{differ}", first.count, first.reason)
}

/// Returns the properties in which the hosts of one row agree.
fn row_key(host: &Host<'_>) -> (usize, usize, String, String) {
    (host.ranks.len(), host.first().processors.online.len(), host.threads_text(), host.binding())
}

pub(super) fn host_table(hosts: &[Host<'_>]) -> Table {
    let mut table = Table::new(&[
        "host",
        "ranks",
        ">processors",
        "threads",
        "bound to",
        ">memory free",
        ">memory bandwidth",
    ]);
    let mut kinds: Vec<Vec<&Host<'_>>> = Vec::new();
    for host in hosts {
        match kinds.iter_mut().find(|alike| hosts.len() > MAX_HOST_ROWS && row_key(alike[0]) == row_key(host))
        {
            Some(alike) => alike.push(host),
            None => kinds.push(vec![host]),
        }
    }
    for alike in kinds {
        let (_, processors, threads, binding) = row_key(alike[0]);
        let free = alike.iter().filter_map(|host| host.memory()).min();
        let bandwidth = alike.iter().map(|host| host.read_bytes_per_second()).fold(f64::INFINITY, f64::min);
        let (names, ranks) = match (alike[0], alike[alike.len() - 1]) {
            (only, _) if alike.len() == 1 => (only.name.to_owned(), only.rank_numbers()),
            (first, last) => {
                let names = format!("{} to {}, {} alike", first.name, last.name, alike.len());
                (names, format!("{} each", first.ranks.len()))
            }
        };
        table.row([
            names,
            ranks,
            processors.to_string(),
            threads,
            binding,
            free.map_or("unknown".into(), |(free, limit)| {
                format!("{} of {}", format_bytes(free), format_bytes(limit))
            }),
            format!("{}/s", format_bytes(bandwidth as u64)),
        ]);
    }
    table
}

fn file_table(job: &JobReport) -> Table {
    let mut table = Table::new(&["path", "use", "file system"]);
    for seen in &job.ranks[0].files {
        let used = match seen.used {
            PathUse::Data => "read",
            PathUse::Output => "written into",
        };
        let system = seen.system.as_ref().map_or("unknown".into(), ToString::to_string);
        table.row([seen.path.display().to_string(), used.into(), system]);
    }
    table
}

/// Returns the report and the findings as JSON.
pub fn report_json(job: &JobReport, findings: &[Finding]) -> Value {
    let first = &job.ranks[0];
    let host = |host: &Host<'_>| {
        let of_ranks = |value: fn(&super::RankReport) -> Value| {
            host.ranks.iter().map(|rank| value(rank)).collect::<Vec<_>>()
        };
        json!({
            "name": host.name,
            "ranks": host.numbers,
            "processors": host.first().processors.online.len(),
            "available": host.available(),
            "sockets": host.first().processors.sockets,
            "threads": of_ranks(|rank| rank.threads.count.into()),
            "bound_to": of_ranks(|rank| rank.processors.allowed.to_string().into()),
            "memory_free_bytes": host.memory().map(|(free, _)| free),
            "memory_bytes": host.memory().map(|(_, limit)| limit),
            "read_bytes_per_second": host.read_bytes_per_second(),
        })
    };
    let needed = job.plan.iter().flatten().map(|plan| &plan.memory).next();
    let problem = job.plan.as_ref().and_then(|plan| plan.as_ref().err());
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "debug_build": cfg!(debug_assertions),
        "kernel": first.kernel,
        "mpi": { "library": first.mpi, "standard": mpi_standard().map(|(major, minor)| format!("{major}.{minor}")) },
        "hdf5": {
            "version": first.hdf5,
            "thread_safe": library_is_thread_safe(),
            "reads_without_locks": reads_without_locks(),
        },
        "launcher": first.launcher,
        "ranks": job.ranks.len(),
        "threads": { "a_rank": first.threads.count, "reason": first.threads.reason.to_string() },
        "hosts": job.hosts().iter().map(host).collect::<Vec<_>>(),
        "files": first.files.iter().map(|seen| json!({
            "path": seen.path,
            "use": seen.used,
            "file_system": seen.system.as_ref().map(|system| &system.name),
            "kind": seen.system.as_ref().map(|system| system.kind()),
        })).collect::<Vec<_>>(),
        "memory_needed_bytes": needed.map(|fits| fits.need),
        "memory_margin_bytes": needed.and_then(|fits| fits.margin),
        "allreduce": job.allreduce,
        "warnings": findings,
        "problem": problem,
    })
}
