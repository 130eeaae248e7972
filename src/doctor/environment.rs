//! Problems with program, launcher, files and settings.

use std::collections::BTreeSet;

use super::examine::{JobReport, RankReport};
use super::files::{PathUse, SeenPath};
use super::findings::{Finding, finding, host_list};
use super::hosts::Host;
use crate::format::{count_noun, format_bytes};
use crate::machine::FileSystemKind;
use crate::memory::LimitSource;
use crate::store::reads_without_locks;

pub(super) fn other_number_of_ranks(job: &JobReport) -> Option<Finding> {
    let (launcher, size) = (&job.ranks[0].launcher, job.ranks.len());
    if let Some(ranks) = launcher.ranks.filter(|&ranks| ranks != size) {
        let name = launcher.name.as_deref().unwrap_or_default();
        if cfg!(not(feature = "mpi")) {
            return finding(
                "without-mpi",
                format!(
                    "{name} started {ranks} processes, but this macrok was built without MPI: each works alone"
                ),
                "build it with MPI (cargo build --release), or start it once, without a launcher",
            );
        }
        return finding(
            "wrong-launcher",
            format!("{name} started {ranks} ranks, but MPI sees {size}"),
            "use the mpirun of the MPI that macrok was built with, or srun with the right --mpi (srun --mpi=list)",
        );
    }
    let tasks = launcher.slurm_tasks.filter(|&tasks| tasks > size)?;
    let (job_id, ranks) = (launcher.slurm_job.as_deref().unwrap_or_default(), count_noun(size, "rank"));
    finding(
        "fewer-ranks-than-tasks",
        format!("Slurm job {job_id} has {tasks} tasks, but MPI sees {ranks}"),
        "start macrok with srun, or with the mpirun of the MPI it was built with",
    )
}

/// Open MPI crashes when it receives a message before it is ready (docs/hpc.md).
pub(super) fn rushed_start(job: &JobReport) -> Option<Finding> {
    if job.hosts().len() == 1 || !job.ranks[0].launcher.rushed {
        return None;
    }
    finding(
        "rushed-start",
        "srun --mpi=pmix does not make ranks wait for those of other hosts at the start: sometimes one crashes with a \
         segmentation fault before macrok prints anything",
        "export SLURM_PMIX_FENCE=ring before srun, as the scripts in slurm/ do",
    )
}

pub(super) fn debug_build(_: &JobReport) -> Option<Finding> {
    let (text, remedy) = (
        "this is a debug build: slower, and with checks for developers",
        "cargo build --release, and use target/release/macrok",
    );
    cfg!(debug_assertions).then(|| finding("debug-build", text, remedy)).flatten()
}

/// Returns the finding on the first path of the job that has one. `check` gets the path as each host sees it.
fn first_path_finding(
    job: &JobReport,
    check: impl Fn(&[(&Host<'_>, &SeenPath)]) -> Option<Finding>,
) -> Option<Finding> {
    let hosts = job.hosts();
    let seen = |at: usize| hosts.iter().map(|host| (host, &host.ranks[0].files[at])).collect::<Vec<_>>();
    (0..job.ranks[0].files.len()).find_map(|at| check(&seen(at)))
}

pub(super) fn data_not_everywhere(job: &JobReport) -> Option<Finding> {
    first_path_finding(job, |seen| {
        let (first, file) = seen.first()?;
        let (other, _) = seen.iter().find(|(_, other)| other.bytes != file.bytes)?;
        let (path, other, first) = (file.path.display(), other.name, first.name);
        finding(
            "data-not-everywhere",
            format!("{path}: missing or of another size on {other}, seen from {first}"),
            "put it on a file system that all hosts share, or copy it to each of them",
        )
    })
}

pub(super) fn output_not_shared(job: &JobReport) -> Option<Finding> {
    first_path_finding(job, |seen| {
        let (first, folder) = seen.first()?;
        let (other, _) = seen.iter().find(|(_, other)| other.used == PathUse::Output && !other.shared)?;
        let (path, first, other) = (folder.path.display(), first.name, other.name);
        if folder.shared {
            let text =
                format!("{path}: files that rank 0 writes there on {first} are not visible on {other}");
            return finding("output-not-shared", text, "write into a folder that all hosts share (--out)");
        }
        let text = format!("{path}: cannot write into this folder on {first}");
        finding("output-unwritable", text, "name another folder with --out")
    })
}

fn is_on(seen: &SeenPath, kind: FileSystemKind) -> bool {
    seen.system.as_ref().is_some_and(|system| system.kind() == kind)
}

pub(super) fn locks(job: &JobReport) -> Option<Finding> {
    let value = job.ranks[0].file_locking.as_deref().unwrap_or_default().to_ascii_uppercase();
    let (off, on_purpose) = (["FALSE", "0"].contains(&&*value), ["TRUE", "1"].contains(&&*value));
    if off || (!on_purpose && reads_without_locks()) {
        return None;
    }
    first_path_finding(job, |seen| {
        let (_, file) = seen.first().filter(|(_, file)| is_on(file, FileSystemKind::Network))?;
        let (path, system) = (file.path.display(), file.system.as_ref()?);
        let why = if on_purpose {
            "HDF5_USE_FILE_LOCKING makes HDF5 lock files there".into()
        } else {
            format!("HDF5 {} locks files there", job.ranks[0].hdf5)
        };
        finding(
            "file-locks",
            format!("{path}: {system}; {why}, which may fail or wait forever"),
            "export HDF5_USE_FILE_LOCKING=FALSE, and do not write the inputs meanwhile",
        )
    })
}

pub(super) fn files_in_memory(job: &JobReport) -> Option<Finding> {
    first_path_finding(job, |seen| {
        let (host, file) = seen.first().filter(|(_, file)| is_on(file, FileSystemKind::Memory))?;
        let (path, system, host) = (file.path.display(), file.system.as_ref()?, host.name);
        let size = file.bytes.map_or(String::new(), |size| format!(", {} of it", format_bytes(size)));
        finding(
            "files-in-memory",
            format!(
                "{path}: {system} is memory of {host}{size}: it counts as used, and may be lost when the job ends"
            ),
            "keep large inputs and all results on a disk or a shared file system",
        )
    })
}

/// Returns the hosts with a rank for which `wrong` is true, and their names as text, if any.
fn hosts_with_rank<'h, 'j>(
    hosts: &'h [Host<'j>],
    wrong: impl Fn(&RankReport) -> bool,
) -> Option<(Vec<&'h Host<'j>>, String)> {
    let wrong: Vec<_> = hosts.iter().filter(|host| host.ranks.iter().any(|rank| wrong(rank))).collect();
    let names = host_list(&wrong);
    (!wrong.is_empty()).then_some((wrong, names))
}

/// Returns the option of `ulimit` that limits the address space of a rank, and the limit.
fn address_limit(rank: &RankReport) -> Option<(char, u64)> {
    rank.memory_limits.iter().find_map(|limit| match limit.source {
        LimitSource::Process { option } => Some((option, limit.total)),
        _ => None,
    })
}

pub(super) fn address_space(job: &JobReport) -> Option<Finding> {
    let hosts = job.hosts();
    let (wrong, names) = hosts_with_rank(&hosts, |rank| address_limit(rank).is_some())?;
    let (option, limit) = wrong[0].ranks.iter().find_map(|rank| address_limit(rank))?;
    finding(
        "address-space",
        format!("{names}: `ulimit -{option}` limits each rank to {}", format_bytes(limit)),
        format!("raise it where the job is started (ulimit -{option} unlimited; Slurm: --propagate=NONE)"),
    )
}

/// The least that network adapters need: with less, MPI fails or falls back to a slow network.
const MIN_LOCKED_MEMORY: u64 = 64 << 20;

pub(super) fn locked_memory(job: &JobReport) -> Option<Finding> {
    let too_low = |rank: &RankReport| {
        rank.settings.locked_memory.filter(|&limit| rank.settings.infiniband && limit < MIN_LOCKED_MEMORY)
    };
    let hosts = job.hosts();
    let (wrong, names) = hosts_with_rank(&hosts, |rank| too_low(rank).is_some())?;
    let limit = format_bytes(wrong[0].ranks.iter().find_map(|rank| too_low(rank))?);
    finding(
        "locked-memory",
        format!("{names}: a fast network, but `ulimit -l` allows a rank to lock only {limit}"),
        "ask the administrator for `ulimit -l unlimited` (Slurm: --propagate=NONE, or PropagateResourceLimitsExcept=MEMLOCK)",
    )
}

pub(super) fn small_pages(job: &JobReport) -> Option<Finding> {
    let hosts = job.hosts();
    let (_, names) = hosts_with_rank(&hosts, |rank| rank.settings.huge_pages.as_deref() == Some("never"))?;
    finding(
        "small-pages",
        format!("{names}: transparent huge pages are off, which makes looking up labels slower"),
        "ask the administrator for: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
    )
}

pub(super) fn slow_kernel(job: &JobReport) -> Option<Finding> {
    let hosts = job.hosts();
    let is_slow = |rank: &RankReport| cfg!(target_arch = "x86_64") && rank.kernel == "scalar";
    let (_, names) = hosts_with_rank(&hosts, is_slow)?;
    finding(
        "slow-kernel",
        format!("{names}: the processor has no AVX2, or it gave wrong results, which makes passes slower"),
        "use newer nodes; in a virtual machine, expose the processor's instructions",
    )
}

/// Returns two different values of the ranks, each with the host of the first rank that has it, if they differ.
fn first_difference<'j, T: Ord>(
    job: &'j JobReport,
    of: impl Fn(&'j RankReport) -> T,
) -> Option<[(&'j str, T); 2]> {
    let first = of(&job.ranks[0]);
    let other = job.ranks.iter().find(|rank| of(rank) != first)?;
    Some([(&job.ranks[0].host, first), (&other.host, of(other))])
}

pub(super) fn kernels_differ(job: &JobReport) -> Option<Finding> {
    let [(one, a), (other, b)] = first_difference(job, |rank| &rank.kernel)?;
    finding(
        "kernels-differ",
        format!("{one} uses the {a} kernel and {other} the {b} kernel: the slower sets the pace for all"),
        "use nodes of one kind (Slurm: --constraint); the results are the same",
    )
}

pub(super) fn libraries_differ(job: &JobReport) -> Option<Finding> {
    let [(one, a), (other, b)] = first_difference(job, |rank| (&rank.mpi, &rank.hdf5))?;
    finding(
        "libraries-differ",
        format!("{one} has {}, HDF5 {}; {other} has {}, HDF5 {}", a.0, a.1, b.0, b.1),
        "load the same modules, or the same container, on all hosts",
    )
}

pub(super) fn host_names(job: &JobReport) -> Option<Finding> {
    let hosts = job.hosts();
    let names: BTreeSet<&str> = hosts.iter().map(|host| host.name).collect();
    let (nodes, different, first) = (hosts.len(), names.len(), hosts[0].name);
    if different < nodes {
        return finding(
            "host-names",
            format!("{nodes} nodes have only {different} different names ({first}...)"),
            "give each a different name, because messages use it (containers: --hostname)",
        );
    }
    let host = hosts.iter().find(|host| host.ranks.iter().any(|rank| rank.host != host.name))?;
    let other = host.ranks.iter().find(|rank| rank.host != host.name)?;
    finding(
        "host-names",
        format!("{} and {} share the memory of one node under two names", host.name, other.host),
        "this is fine with a container for each rank; otherwise check the names of the hosts",
    )
}

/// The seconds by which clocks may differ, including the time to read them.
const MAX_CLOCK_SKEW: f64 = 2.0;

pub(super) fn clocks(job: &JobReport) -> Option<Finding> {
    let by_clock = |a: &&RankReport, b: &&RankReport| a.clock.total_cmp(&b.clock);
    let (slow, fast) = (job.ranks.iter().min_by(by_clock)?, job.ranks.iter().max_by(by_clock)?);
    let skew = Some(fast.clock - slow.clock).filter(|&skew| skew > MAX_CLOCK_SKEW)?;
    finding(
        "clocks",
        format!("the clock of {} is {skew:.0} s ahead of that of {}", fast.host, slow.host),
        "synchronise both with a time server: time limits and the order of files depend on it",
    )
}
