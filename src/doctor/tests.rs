//! Simulated jobs, each with one problem.

use super::examine::{JobReport, RankReport};
use super::files::{PathUse, SeenPath};
use super::findings::{Finding, findings};
use super::output::{host_table, report_json};
use crate::machine::{
    CpuSet, CpuShare, FileSystem, Launcher, NodeSettings, Processors, Quota, ThreadCountSource,
    ThreadWarning, Threads,
};
use crate::memory::{LimitSource, MemoryLimit};
use crate::world::Nodes;

const GIB: u64 = 1 << 30;

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

fn seen(path: &str, used: PathUse, system: &str) -> SeenPath {
    let system = FileSystem { name: system.into(), source: "disk".into(), mount: "/".into() };
    SeenPath { path: path.into(), used, system: Some(system), bytes: Some(100), shared: true }
}

/// A rank without problems, on four of the eight processors of its host.
fn rank(host: &str, list: &str) -> RankReport {
    let allowed = set(list);
    let share = CpuShare { threads: allowed.len(), ranks: 1, quota: None };
    let reason = ThreadCountSource::Share { share, processors: allowed.len(), bound: true };
    RankReport {
        host: host.into(),
        threads: Threads { count: allowed.len(), reason, warnings: Vec::new() },
        processors: Processors {
            online: set("0-7"),
            granted: set("0-7"),
            allowed,
            sockets: 2,
            memory_nodes: 2,
            ..Processors::default()
        },
        settings: NodeSettings { huge_pages: Some("madvise".into()), ..NodeSettings::default() },
        launcher: Launcher::default(),
        memory_limits: vec![MemoryLimit { available: 10 * GIB, total: 16 * GIB, source: LimitSource::Node }],
        files: vec![seen("data.h5", PathUse::Data, "lustre"), seen("runs", PathUse::Output, "lustre")],
        kernel: "AVX2".into(),
        mpi: "Some MPI".into(),
        hdf5: "1.10.8".into(),
        file_locking: None,
        clock: 1e9,
        read: (GIB, 0.1),
    }
}

/// Two ranks on each of two hosts.
fn healthy() -> JobReport {
    let ranks = [("n1", "0-3"), ("n1", "4-7"), ("n2", "0-3"), ("n2", "4-7")];
    job(ranks.map(|(host, list)| rank(host, list)).into(), &[0, 0, 2, 2])
}

fn job(ranks: Vec<RankReport>, nodes: &[usize]) -> JobReport {
    JobReport { nodes: Nodes::new(nodes.to_vec()), ranks, allreduce: None, plan: None }
}

/// Returns the findings except that this is a debug build.
fn found(job: &JobReport) -> Vec<Finding> {
    findings(job).into_iter().filter(|finding| finding.name != "debug-build").collect()
}

/// Returns the only finding after a change of each rank of a healthy job.
#[track_caller]
fn after(change: impl Fn(usize, &mut RankReport)) -> Finding {
    let mut job = healthy();
    job.ranks.iter_mut().enumerate().for_each(|(number, rank)| change(number, rank));
    let mut all = found(&job);
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

/// A job of `ranks` ranks on one host, each with `list` and `threads` threads.
fn crowd(ranks: usize, list: &str, threads: usize) -> JobReport {
    let mut one = rank("n1", list);
    one.threads.count = threads;
    job(vec![one; ranks], &vec![0; ranks])
}

#[test]
fn warns_of_ranks_that_do_not_wait_for_each_other_at_the_start() {
    let finding = after(|_, rank| rank.launcher.rushed = true);
    assert_eq!(finding.name, "rushed-start");
    assert!(finding.remedy.contains("SLURM_PMIX_FENCE=ring"), "{finding:?}");
    // On one host they wait.
    let mut alone = job(vec![rank("n1", "0-3"), rank("n1", "4-7")], &[0, 0]);
    alone.ranks.iter_mut().for_each(|rank| rank.launcher.rushed = true);
    assert_eq!(found(&alone), []);
}

#[test]
fn a_healthy_job_has_no_findings() {
    assert_eq!(found(&healthy()), []);
    let debug = findings(&healthy()).iter().any(|finding| finding.name == "debug-build");
    assert_eq!(debug, cfg!(debug_assertions));
}

#[test]
fn warns_of_more_threads_than_processors() {
    let all = found(&crowd(3, "0-3", 2));
    assert_eq!(all[0].name, "oversubscribed");
    assert_eq!(all[0].text, "n1: 3 ranks with 6 threads in all, but 4 processors to run them on");
    assert_eq!(found(&crowd(2, "0-3", 2)).iter().filter(|one| one.name == "oversubscribed").count(), 0);
    let everywhere = after(|_, rank| rank.threads.count = 5);
    assert_eq!(
        everywhere.text,
        "n1 (and 1 other host): 2 ranks with 10 threads in all, but 8 processors to run them on"
    );
}

#[test]
fn warns_of_all_ranks_on_one_core() {
    let all = found(&crowd(4, "3", 1));
    assert_eq!(all.len(), 1, "{all:#?}");
    assert_eq!(all[0].name, "one-core");
    assert_eq!(all[0].text, "n1: all 4 ranks are bound to processor 3, but the job has 8 there");
    // The job has only one core.
    let mut alone = crowd(4, "3", 1);
    alone.ranks.iter_mut().for_each(|rank| rank.processors.granted = set("3"));
    assert_eq!(found(&alone)[0].name, "oversubscribed");
}

#[test]
fn warns_of_idle_processors() {
    // The default of mpirun for two ranks: one core each.
    let all = found(&job(vec![rank("n1", "0"), rank("n1", "1")], &[0, 0]));
    assert_eq!(all.len(), 1, "{all:#?}");
    assert_eq!(
        (all[0].name, &*all[0].text),
        ("idle-processors", "n1: 2 threads in use, but 8 processors for this job")
    );
    assert!(all[0].remedy.starts_with("bind ranks to more processors"), "{all:?}");
    // A job that has two processors of the node uses both.
    let mut small = job(vec![rank("n1", "0"), rank("n1", "1")], &[0, 0]);
    small.ranks.iter_mut().for_each(|rank| rank.launcher.slurm_processors = Some(2));
    assert_eq!(found(&small), []);
    let requested = after(|_, rank| {
        rank.threads.count = 1;
        rank.threads.reason = ThreadCountSource::Option;
    });
    assert_eq!(requested.remedy, "raise --threads, or start more ranks");
}

#[test]
fn warns_of_ranks_that_move_between_sockets() {
    let finding = after(|_, rank| {
        rank.processors.allowed = set("0-7");
    });
    assert_eq!(finding.name, "not-bound");
    assert!(finding.text.contains("2 ranks move freely between 2 sockets and 2 memory nodes"), "{finding:?}");
    // It does not matter on one socket or with one rank.
    let mut simple = crowd(2, "0-7", 4);
    assert_eq!(found(&simple)[0].name, "not-bound");
    simple.ranks.iter_mut().for_each(|rank| (rank.processors.sockets, rank.processors.memory_nodes) = (1, 1));
    assert_eq!(found(&simple), []);
    assert_eq!(found(&crowd(1, "0-7", 8)), []);
}

#[test]
fn warns_of_threads_that_were_not_granted() {
    let warning = ThreadWarning { problem: "too many threads".into(), remedy: "use fewer".into() };
    let finding = after(|_, rank| rank.threads.warnings.push(warning.clone()));
    assert_eq!(finding.name, "threads-not-as-asked");
    assert_eq!((&*finding.text, &*finding.remedy), ("rank 0: too many threads", "use fewer"));
}

#[test]
fn warns_of_a_time_limit_below_the_threads() {
    let finding = after(|_, rank| rank.processors.quotas = vec![Quota { processors: 2.5, id: 1 }]);
    assert_eq!(finding.name, "limited-time");
    assert!(finding.text.contains("the time of 2.50 processors, but 8 threads run"), "{finding:?}");
}

#[test]
fn warns_of_another_number_of_ranks_than_the_launcher_started() {
    let tasks = after(|_, rank| {
        (rank.launcher.slurm_job, rank.launcher.slurm_tasks) = (Some("17".into()), Some(8));
    });
    assert_eq!(tasks.name, "fewer-ranks-than-tasks");
    assert_eq!(tasks.text, "Slurm job 17 has 8 tasks, but MPI sees 4 ranks");
    let wrong = after(|_, rank| {
        (rank.launcher.name, rank.launcher.ranks) = (Some("srun".into()), Some(2));
    });
    let (name, text) = if cfg!(feature = "mpi") {
        ("wrong-launcher", "srun started 2 ranks, but MPI sees 4")
    } else {
        ("without-mpi", "srun started 2 processes, but this macrok was built without MPI: each works alone")
    };
    assert_eq!((wrong.name, &*wrong.text), (name, text));
}

#[test]
fn warns_of_files_that_some_hosts_do_not_see() {
    let missing = after(|number, rank| rank.files[0].bytes = (number < 2).then_some(100));
    assert_eq!(missing.name, "data-not-everywhere");
    assert_eq!(missing.text, "data.h5: missing or of another size on n2, seen from n1");
    let own = after(|number, rank| rank.files[1].shared = number < 2);
    assert_eq!(own.name, "output-not-shared");
    assert_eq!(own.text, "runs: files that rank 0 writes there on n1 are not visible on n2");
    let closed = after(|_, rank| rank.files[1].shared = false);
    assert_eq!(
        (closed.name, &*closed.text),
        ("output-unwritable", "runs: cannot write into this folder on n1")
    );
}

#[test]
fn warns_of_locks_on_network_file_systems() {
    // Libraries that can read without locks lock only if the variable requires it.
    let insisting = after(|_, rank| rank.file_locking = Some("true".into()));
    assert_eq!(insisting.name, "file-locks");
    assert!(
        insisting
            .text
            .starts_with("data.h5: Lustre (disk on /); HDF5_USE_FILE_LOCKING makes HDF5 lock files")
    );
    let mut job = healthy();
    job.ranks.iter_mut().for_each(|rank| rank.file_locking = Some("FALSE".into()));
    assert_eq!(found(&job), []);
    for rank in &mut job.ranks {
        rank.file_locking = Some("TRUE".into());
        rank.files = vec![seen("data.h5", PathUse::Data, "ext4"), seen("runs", PathUse::Output, "xfs")];
    }
    assert_eq!(found(&job), []);
}

#[test]
fn warns_of_files_in_memory() {
    let finding = after(|_, rank| rank.files[1] = seen("/tmp", PathUse::Output, "tmpfs"));
    assert_eq!(finding.name, "files-in-memory");
    assert!(finding.text.starts_with("/tmp: tmpfs (disk on /) is memory of n1"), "{finding:?}");
}

#[test]
fn warns_of_bad_settings() {
    let pages = after(|number, rank| {
        rank.settings.huge_pages = Some(if number == 3 { "never" } else { "always" }.into());
    });
    assert_eq!(pages.name, "small-pages");
    assert!(pages.text.starts_with("n2: "), "{pages:?}");
    let locked = after(|_, rank| {
        (rank.settings.locked_memory, rank.settings.infiniband) = (Some(8 << 20), true);
    });
    assert_eq!(locked.name, "locked-memory");
    // Other networks need no locked memory.
    let mut job = healthy();
    job.ranks.iter_mut().for_each(|rank| rank.settings.locked_memory = Some(8 << 20));
    assert_eq!(found(&job), []);
    let space = after(|_, rank| {
        rank.memory_limits.push(MemoryLimit {
            available: GIB,
            total: 4 * GIB,
            source: LimitSource::Process { option: 'v' },
        });
    });
    assert_eq!(
        (space.name, &*space.text),
        ("address-space", "n1 (and 1 other host): `ulimit -v` limits each rank to 4.0 GiB")
    );
}

#[test]
fn warns_of_hosts_that_differ() {
    let kernels = after(|number, rank| rank.kernel = if number < 2 { "AVX-512" } else { "AVX2" }.into());
    assert_eq!(kernels.name, "kernels-differ");
    assert!(kernels.text.starts_with("n1 uses the AVX-512 kernel and n2 the AVX2 kernel"), "{kernels:?}");
    let libraries = after(|number, rank| rank.hdf5 = format!("1.10.{number}"));
    assert_eq!(libraries.name, "libraries-differ");
    let clocks = after(|number, rank| rank.clock += if number == 2 { 30.0 } else { 0.0 });
    assert_eq!((clocks.name, &*clocks.text), ("clocks", "the clock of n2 is 30 s ahead of that of n1"));
    let names = after(|_, rank| rank.host = "node".into());
    assert_eq!(names.name, "host-names");
    let containers = after(|number, rank| rank.host = format!("box{number}"));
    assert_eq!(containers.text, "box0 and box1 share the memory of one node under two names");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn warns_of_a_processor_without_vectors() {
    assert_eq!(after(|_, rank| rank.kernel = "scalar".into()).name, "slow-kernel");
}

#[test]
fn the_table_has_a_row_for_each_host_with_its_binding() {
    let table = host_table(&healthy().hosts()).to_string();
    let lines: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    assert_eq!(
        lines[0],
        ["host", "ranks", "processors", "threads", "bound to", "memory free", "memory bandwidth"]
    );
    assert_eq!(lines[1], ["n1", "0-1", "8", "2 x 4", "0-3 | 4-7", "10.0 GiB of 16.0 GiB", "20.0 GiB/s"]);
    assert_eq!(lines[2][..2], ["n2", "2-3"]);
    assert_eq!(lines.len(), 3);
}

#[test]
fn describes_the_binding_briefly() {
    let binding = |masks: &[&str]| {
        let ranks = masks.iter().map(|list| rank("n1", list)).collect();
        job(ranks, &vec![0; masks.len()]).hosts()[0].binding()
    };
    assert_eq!(binding(&["0-7", "0-7"]), "not bound");
    assert_eq!(binding(&["2-3"]), "2-3");
    assert_eq!(binding(&["0", "0"]), "all to 0");
    assert_eq!(binding(&["0", "1", "2", "3", "4", "5"]), "0 | 1 | 2 | 3 | ...");
}

#[test]
fn hundreds_of_similar_hosts_share_one_row() {
    let hosts = 200;
    let mut ranks: Vec<RankReport> = (0..hosts).map(|host| rank(&format!("n{host}"), "0-7")).collect();
    ranks[50].read.1 = 0.2;
    ranks[199].threads.count = 1;
    let job = job(ranks, &(0..hosts).collect::<Vec<_>>());
    let table = host_table(&job.hosts()).to_string();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[1].starts_with("n0 to n198, 199 alike  1 each"), "{table}");
    assert!(lines[1].ends_with("5.0 GiB/s"), "the slowest of them:\n{table}");
    assert!(lines[2].starts_with("n199  "), "{table}");
}

#[test]
fn json_has_the_same_facts() {
    let mut job = healthy();
    job.ranks[0].settings.huge_pages = Some("never".into());
    job.plan = Some(Err("not enough memory".into()));
    let facts = report_json(&job, &found(&job));
    assert_eq!(facts["ranks"], 4);
    assert_eq!(facts["hosts"][1]["name"], "n2");
    assert_eq!(facts["hosts"][1]["threads"], serde_json::json!([4, 4]));
    assert_eq!(facts["hosts"][0]["bound_to"], serde_json::json!(["0-3", "4-7"]));
    assert_eq!(facts["files"][0]["kind"], "network");
    assert_eq!(facts["warnings"][0]["name"], "small-pages");
    assert_eq!(facts["problem"], "not enough memory");
}
