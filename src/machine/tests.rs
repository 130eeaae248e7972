//! Simulated machines, and ranks on simulated nodes.

use std::path::PathBuf;

use tempfile::TempDir;

use super::threads::choose_threads;
use super::*;
use crate::error::Result;
use crate::world::{Nodes, World};

/// Creates a root with these files.
pub(crate) fn tree(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path: PathBuf = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    root
}

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

fn place(list: &str) -> Processors {
    Processors { allowed: set(list), ..Processors::default() }
}

fn with_quota(list: &str, processors: f64, id: u64) -> Processors {
    Processors { quotas: vec![Quota { processors, id }], ..place(list) }
}

/// Returns the shares of all ranks.
fn shares(places: &[Processors], nodes: &[usize]) -> Vec<CpuShare> {
    let nodes = Nodes::new(nodes.to_vec());
    (0..places.len()).map(|rank| cpu_share(rank, places, &nodes)).collect()
}

fn counts(places: &[Processors], nodes: &[usize]) -> Vec<usize> {
    shares(places, nodes).iter().map(|share| share.threads).collect()
}

#[test]
fn without_files_uses_the_parallelism_of_the_standard_library() {
    let found = Processors::detect(tree(&[]).path());
    assert_eq!(found.allowed.len(), std::thread::available_parallelism().unwrap().get());
    assert_eq!((found.online.clone(), found.granted.clone()), (found.allowed.clone(), found.allowed.clone()));
    assert!(!found.is_bound());
    assert_eq!((found.sockets, found.memory_nodes, found.quotas.len()), (1, 1, 0));
}

/// Eight processors in two sockets, four of them for the job, two for this process.
const NODE: [(&str, &str); 13] = [
    ("proc/self/status", "Name:\tmacrok\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n"),
    ("proc/self/cgroup", "0::/job_7/step_0\n"),
    ("sys/devices/system/cpu/online", "0-7\n"),
    ("sys/devices/system/node/has_memory", "0-1\n"),
    ("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"),
    ("sys/devices/system/cpu/cpu4/topology/physical_package_id", "1\n"),
    ("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n"),
    ("sys/devices/system/cpu/cpu0/cache/index1/size", "32768K\n"),
    ("sys/devices/system/cpu/cpu0/cache/index1/shared_cpu_list", "0-3\n"),
    ("sys/fs/cgroup/cgroup.controllers", "cpu cpuset\n"),
    ("sys/fs/cgroup/job_7/step_0/cpu.max", "max 100000\n"),
    ("sys/fs/cgroup/job_7/cpuset.cpus.effective", "0-3\n"),
    ("sys/fs/cgroup/cpuset.cpus.effective", "0-7\n"),
];

#[test]
fn tells_processors_of_node_job_and_process_apart() {
    let found = Processors::detect(tree(&NODE).path());
    let lists = [&found.online, &found.granted, &found.allowed].map(ToString::to_string);
    assert_eq!(lists, ["0-7", "0-3", "0-1"]);
    assert!(found.is_bound());
    assert_eq!((found.sockets, found.memory_nodes, found.cache_bytes), (2, 2, 32 << 20));
    assert_eq!(found.quotas, []);
    // A process that may use all processors of its job is not bound, even if the node has more.
    let files = [&NODE[1..], &[("proc/self/status", "Cpus_allowed_list:\t0-3\n")]].concat();
    assert!(!Processors::detect(tree(&files).path()).is_bound());
}

#[test]
fn reads_the_time_limit_of_every_group() {
    let quotas = |files: &[(&str, &str)]| -> Vec<f64> {
        Processors::detect(tree(files).path()).quotas.iter().map(|quota| quota.processors).collect()
    };
    let two = [
        ("proc/self/cgroup", "0::/job/step\n"),
        ("sys/fs/cgroup/cgroup.controllers", "cpu\n"),
        ("sys/fs/cgroup/job/cpu.max", "250000 100000\n"),
        ("sys/fs/cgroup/job/step/cpu.max", "400000 100000\n"),
    ];
    assert_eq!(quotas(&two), [2.5, 4.0]);
    let one = [
        ("proc/self/cgroup", "4:cpu,cpuacct:/box\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n"),
    ];
    assert_eq!(quotas(&one), [0.5]);
    let garbage = [
        ("proc/self/cgroup", "0::/\n"),
        ("sys/fs/cgroup/cgroup.controllers", "cpu\n"),
        ("sys/fs/cgroup/cpu.max", "1000 0\n"),
    ];
    assert_eq!(quotas(&garbage), [] as [f64; 0]);
}

#[test]
fn unbound_ranks_share_the_node_evenly() {
    assert_eq!(counts(&[place("0-7")], &[0]), [8]);
    assert_eq!(counts(&vec![place("0-7"); 4], &[0; 4]), [2; 4]);
    assert_eq!(counts(&vec![place("0-7"); 3], &[0; 3]), [2; 3]);
    assert_eq!(counts(&vec![place("0-1"); 5], &[0; 5]), [1; 5]);
    // On two nodes, round robin.
    assert_eq!(counts(&vec![place("0-7"); 4], &[0, 1, 0, 1]), [4; 4]);
    // Nine thirds are three in spite of rounding.
    assert_eq!(counts(&vec![place("0-8"); 3], &[0; 3]), [3; 3]);
}

#[test]
fn bound_ranks_get_all_their_processors() {
    let found = shares(&[place("0-3"), place("4-7"), place("0-7")], &[0, 0, 2]);
    assert_eq!(
        found.iter().map(|share| (share.threads, share.ranks)).collect::<Vec<_>>(),
        [(4, 1), (4, 1), (8, 1)]
    );
}

#[test]
fn ranks_share_common_processors() {
    // The second and third share two processors, the first has two others.
    let found = shares(&[place("0-1"), place("2-3"), place("2-3")], &[0; 3]);
    assert_eq!(
        found.iter().map(|share| (share.threads, share.ranks)).collect::<Vec<_>>(),
        [(2, 1), (1, 2), (1, 2)]
    );
    // All on one core: at least one thread each.
    assert_eq!(counts(&vec![place("0"); 4], &[0; 4]), [1; 4]);
    // Partly shared: processors 2 and 3.
    assert_eq!(counts(&[place("0-3"), place("2-5")], &[0; 2]), [3; 2]);
}

#[test]
fn ranks_of_a_group_share_its_time_limit() {
    let found = shares(&vec![with_quota("0-7", 4.0, 5); 2], &[0; 2]);
    assert_eq!((found[0].threads, found[0].quota), (2, Some(4.0)));
    // A container each.
    assert_eq!(counts(&[with_quota("0-7", 4.0, 5), with_quota("0-7", 4.0, 6)], &[0; 2]), [4; 2]);
    // Groups with the same number on two nodes.
    assert_eq!(counts(&vec![with_quota("0-7", 4.0, 5); 2], &[0, 1]), [4; 2]);
    // At least one thread; a limit above the affinity mask has no effect.
    assert_eq!(counts(&[with_quota("0-7", 0.5, 5)], &[0]), [1]);
    assert_eq!(shares(&[with_quota("0-1", 4.0, 5)], &[0])[0].quota, None);
}

/// Chooses threads on a node of 8 processors with `ranks` ranks that may all use `list`.
fn chosen(requested: Option<usize>, variables: &[(&str, &str)], list: &str, ranks: usize) -> Result<Threads> {
    let processors =
        Processors { online: set("0-7"), granted: set("0-7"), allowed: set(list), ..Processors::default() };
    let share = shares(&vec![place(list); ranks], &vec![0; ranks]).remove(0);
    let variable =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    choose_threads(requested, variable, &processors, share)
}

/// Returns the number of threads, its reason, and the warnings.
fn described(variables: &[(&str, &str)], list: &str, ranks: usize) -> (usize, String, Vec<String>) {
    let found = chosen(None, variables, list, ranks).unwrap();
    (found.count, found.reason.to_string(), found.warnings.iter().map(ToString::to_string).collect())
}

const JOB: (&str, &str) = ("SLURM_JOB_ID", "17");

#[test]
fn the_option_precedes_all_variables() {
    let variables = [JOB, ("SLURM_CPUS_PER_TASK", "4"), ("OMP_NUM_THREADS", "3")];
    let found = chosen(Some(12), &variables, "0-1", 2).unwrap();
    assert_eq!((found.count, found.reason.to_string().as_str()), (12, "--threads"));
    let error = chosen(Some(0), &variables, "0-1", 2).unwrap_err();
    assert_eq!(error.to_string(), "--threads is 0, but must be at least 1");
}

#[test]
fn slurm_precedes_open_mp_and_open_mp_the_share() {
    let slurm = ("SLURM_CPUS_PER_TASK", "4");
    let open_mp = ("OMP_NUM_THREADS", "3");
    assert_eq!(described(&[JOB, slurm, open_mp], "0-7", 1), (4, "SLURM_CPUS_PER_TASK".into(), vec![]));
    assert_eq!(described(&[JOB, open_mp], "0-7", 1), (3, "OMP_NUM_THREADS".into(), vec![]));
    let (count, reason, warnings) = described(&[slurm, open_mp], "0-7", 1);
    assert_eq!((count, reason.as_str()), (3, "OMP_NUM_THREADS"));
    assert_eq!(
        warnings,
        [
            "SLURM_CPUS_PER_TASK is set, but SLURM_JOB_ID is not; it is ignored outside a job; unset SLURM_CPUS_PER_TASK, or use --threads"
        ]
    );
}

#[test]
fn accepts_a_list_of_levels_and_no_other_text() {
    for (value, count) in [("4,2", 4), (" 2 ", 2), ("1", 1), ("3, 1,1", 3)] {
        assert_eq!(described(&[("OMP_NUM_THREADS", value)], "0-7", 1).0, count, "{value}");
    }
    for value in ["0", "abc", "-2", "2.5", "0,4", "99999999999999999999", ",2"] {
        let (count, reason, warnings) = described(&[("OMP_NUM_THREADS", value)], "0-7", 2);
        assert_eq!(
            (count, reason.as_str()),
            (4, "the rank's share of 8 processors with 2 ranks here"),
            "{value}"
        );
        let says = format!(
            "OMP_NUM_THREADS is '{value}', but must be a whole number above 0; it is ignored; correct OMP_NUM_THREADS, or unset it"
        );
        assert_eq!(warnings, [says]);
    }
    assert_eq!(described(&[("OMP_NUM_THREADS", "")], "0-7", 1).2, [] as [String; 0]);
}

#[test]
fn variables_never_lead_to_more_threads_than_processors() {
    let (count, _, warnings) = described(&[JOB, ("SLURM_CPUS_PER_TASK", "8")], "3", 1);
    assert_eq!(count, 1);
    assert_eq!(
        warnings,
        [
            "SLURM_CPUS_PER_TASK is 8, but this rank may run on 1 processor only; it uses all of them; pass it to srun too: srun --cpus-per-task=8; mpirun --bind-to none"
        ]
    );
    let (count, _, warnings) = described(&[("OMP_NUM_THREADS", "64")], "0-3", 1);
    assert_eq!((count, warnings.len()), (4, 1));
}

#[test]
fn describes_every_source() {
    let reason = |list, ranks| described(&[], list, ranks).1;
    assert_eq!(reason("0-7", 1), "the rank's share of 8 processors with 1 rank here");
    assert_eq!(reason("0-7", 4), "the rank's share of 8 processors with 4 ranks here");
    assert_eq!(reason("2-3", 1), "the rank is bound to 2 processors");
    assert_eq!(reason("2", 1), "the rank is bound to 1 processor");
    assert_eq!(reason("2-5", 2), "the rank's share of 4 processors that 2 ranks are bound to");
    let share = CpuShare { threads: 1, ranks: 2, quota: Some(2.5) };
    assert_eq!(
        ThreadCountSource::Share { share, processors: 8, bound: false }.to_string(),
        "the rank's share of the processor time that the job or container may use, that of 2.5 processors"
    );
}

#[test]
fn starts_threads_on_this_machine() {
    let found = start_threads(&World::alone(), None).unwrap();
    assert!((1..=Processors::detect(Path::new("/")).allowed.len()).contains(&found.count), "{found:?}");
}

#[test]
fn reads_the_settings_of_the_node() {
    assert_eq!(NodeSettings::detect(tree(&[]).path()), NodeSettings::default());
    let found = NodeSettings::detect(
        tree(&[
            ("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n"),
            ("proc/self/limits", "Max locked memory         8388608    8388608    bytes\n"),
            ("sys/class/infiniband/mlx5_0/node_type", "1: CA\n"),
        ])
        .path(),
    );
    let expected =
        NodeSettings { huge_pages: Some("never".into()), locked_memory: Some(8 << 20), infiniband: true };
    assert_eq!(found, expected);
    let limits = "Max locked memory         unlimited    unlimited    bytes\n";
    assert_eq!(NodeSettings::detect(tree(&[("proc/self/limits", limits)]).path()).locked_memory, None);
}

#[test]
fn recognises_launchers_by_their_variables() {
    let find = |variables: &[(&str, &str)]| {
        Launcher::detect(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    };
    assert_eq!(find(&[]).to_string(), "started without a launcher");
    let open_mpi = find(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "0"), JOB, ("SLURM_NTASKS", "8")]);
    assert_eq!(open_mpi.to_string(), "started by mpirun of Open MPI in Slurm job 17");
    assert_eq!((open_mpi.ranks, open_mpi.slurm_tasks), (Some(4), Some(8)));
    let srun = find(&[JOB, ("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "2"), ("PMIX_RANK", "1")]);
    assert_eq!((srun.to_string().as_str(), srun.ranks), ("started by srun in Slurm job 17", Some(2)));
    assert!(srun.rushed && !open_mpi.rushed);
    let ring = ("SLURM_PMIX_FENCE", "ring");
    assert!(!find(&[JOB, ("SLURM_STEP_ID", "0"), ("PMIX_RANK", "1"), ring]).rushed);
    // A variable left in a shell outside any job.
    assert_eq!(find(&[("SLURM_NTASKS", "8")]).slurm_tasks, None);
}
