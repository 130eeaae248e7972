//! Tests with small trees of `/proc` and `/sys`, and with jobs on simulated nodes.

use std::path::Path;

use super::job_check::{RankMemory, check_limits, check_ranks};
use super::*;
use crate::error::ExitStatus;
use crate::machine::tests::tree;
use crate::world::{Nodes, World};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Returns the available memory and the limit's file below the mount, for each group.
fn groups(root: &Path) -> Vec<(u64, String)> {
    let mount = format!("{}/sys/fs/cgroup/", root.display());
    let describe = |limit: MemoryLimit| match limit.source {
        LimitSource::Cgroup { file, .. } => {
            Some((limit.available, file.strip_prefix(&mount).unwrap().to_owned()))
        }
        _ => None,
    };
    read_limits(root).into_iter().filter_map(describe).collect()
}

#[test]
fn systems_without_reports_have_no_limits() {
    assert_eq!(read_limits(tree(&[]).path()), []);
}

#[test]
fn limit_without_groups_is_the_memory_of_the_node() {
    let meminfo = "MemTotal:       2048 kB\nMemFree:  10 kB\nMemAvailable:    1024 kB\n";
    let root = tree(&[("proc/meminfo", meminfo), ("proc/self/cgroup", "0::/\n")]);
    assert_eq!(
        read_limits(root.path()),
        [MemoryLimit { available: MIB, total: 2 * MIB, source: LimitSource::Node }]
    );
}

#[test]
fn all_ancestor_groups_limit_and_page_cache_does_not_count() {
    let root = tree(&[
        ("proc/self/cgroup", "0::/job_7/step_0/task_0\n"),
        ("sys/fs/cgroup/cgroup.controllers", "memory\n"),
        ("sys/fs/cgroup/job_7/memory.max", "1000\n"),
        ("sys/fs/cgroup/job_7/memory.high", "900\n"),
        ("sys/fs/cgroup/job_7/memory.current", "800\n"),
        ("sys/fs/cgroup/job_7/memory.stat", "anon 500\nfile 300\ninactive_file 200\nactive_file 50\n"),
        ("sys/fs/cgroup/job_7/step_0/memory.max", "700\n"),
        ("sys/fs/cgroup/job_7/step_0/memory.high", "max\n"),
        ("sys/fs/cgroup/job_7/step_0/memory.current", "100\n"),
        ("sys/fs/cgroup/job_7/step_0/memory.stat", "inactive_file 0\nactive_file 0\n"),
        ("sys/fs/cgroup/job_7/step_0/task_0/memory.max", "max\n"),
        ("sys/fs/cgroup/job_7/step_0/task_0/memory.high", "max\n"),
        // A group of another job.
        ("sys/fs/cgroup/job_8/memory.max", "1\n"),
    ]);
    let expected = [(600, "job_7/step_0/memory.max".into()), (350, "job_7/memory.high".into())];
    assert_eq!(groups(root.path()), expected);
}

#[test]
fn groups_without_a_limit_limit_nothing() {
    let root = tree(&[
        ("proc/self/cgroup", "0::/user.slice\n"),
        ("sys/fs/cgroup/cgroup.controllers", "memory\n"),
        ("sys/fs/cgroup/user.slice/memory.max", "max\n"),
        ("sys/fs/cgroup/user.slice/memory.high", "max\n"),
        ("sys/fs/cgroup/user.slice/memory.current", "800\n"),
    ]);
    assert_eq!(groups(root.path()), []);
}

#[test]
fn a_container_has_its_own_group_at_the_mount() {
    let files = [
        ("sys/fs/cgroup/cgroup.controllers", "memory\n"),
        ("sys/fs/cgroup/memory.max", "1000\n"),
        ("sys/fs/cgroup/memory.current", "400\n"),
        ("sys/fs/cgroup/memory.stat", "inactive_file 0\nactive_file 100\n"),
    ];
    for path in ["0::/\n", "0::/docker/0123abcd\n"] {
        let root = tree(&[&files[..], &[("proc/self/cgroup", path)]].concat());
        assert_eq!(groups(root.path()), [(700, "memory.max".into())], "{path}");
    }
    // Moved out of the namespace: the group at the mount is not above this process.
    let root = tree(&[&files[..], &[("proc/self/cgroup", "0::/../other\n")]].concat());
    assert_eq!(groups(root.path()), []);
}

#[test]
fn reads_limits_of_version_1() {
    let root = tree(&[
        ("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/slurm/uid_1/job_7\n3:cpuset:/\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ("sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "9223372036854710272\n"),
        ("sys/fs/cgroup/memory/slurm/uid_1/memory.limit_in_bytes", "500\n"),
        ("sys/fs/cgroup/memory/slurm/uid_1/memory.use_hierarchy", "0\n"),
        ("sys/fs/cgroup/memory/slurm/uid_1/job_7/memory.limit_in_bytes", "1000\n"),
        ("sys/fs/cgroup/memory/slurm/uid_1/job_7/memory.usage_in_bytes", "600\n"),
        (
            "sys/fs/cgroup/memory/slurm/uid_1/job_7/memory.stat",
            "inactive_file 1\nactive_file 1\ntotal_inactive_file 100\ntotal_active_file 200\n",
        ),
    ]);
    let expected = [(700, "memory/slurm/uid_1/job_7/memory.limit_in_bytes".into())];
    assert_eq!(groups(root.path()), expected);
}

#[test]
fn reads_the_version_that_controls_memory() {
    let root = tree(&[
        ("proc/self/cgroup", "4:memory:/job\n1:cpu:/\n0::/job\n"),
        ("sys/fs/cgroup/unified/job/cgroup.procs", ""),
        ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000\n"),
    ]);
    // The use is unknown, so all of the limit counts as available.
    assert_eq!(groups(root.path()), [(1000, "memory/job/memory.limit_in_bytes".into())]);
    let root = tree(&[
        ("proc/self/cgroup", "1:cpu:/\n0::/job\n"),
        ("sys/fs/cgroup/unified/job/memory.max", "2000\n"),
    ]);
    assert_eq!(groups(root.path()), [(2000, "unified/job/memory.max".into())]);
}

#[test]
fn ignores_invalid_files() {
    let root = tree(&[
        ("proc/meminfo", "MemAvailable: lots\nMemTotal\n"),
        ("proc/self/cgroup", "\n:\n::\n0::/job\nmemory\n7:memory\n"),
        ("proc/self/limits", "Max address space\nMax data size -1 -1 bytes\n"),
        ("proc/self/status", "VmSize:\t18446744073709551615 kB\n"),
        ("sys/fs/cgroup/cgroup.controllers", ""),
        ("sys/fs/cgroup/job/memory.max", "12 bananas\n"),
        ("sys/fs/cgroup/memory.high", "-5\n"),
    ]);
    assert_eq!(read_limits(root.path()), []);
}

#[test]
fn reads_the_tighter_ulimit() {
    let limits = |address: &str, data: &str| {
        format!(
            "Limit  Soft Limit  Hard Limit  Units\nMax data size   {data}  unlimited  bytes\n\
             Max address space   {address}   unlimited  bytes\n"
        )
    };
    let status = "VmPeak:\t 9 kB\nVmSize:\t     3 kB\nVmData:\t 1 kB\n";
    for (address, data, expected) in [
        ("8192", "unlimited", Some((5120, 8192, 'v'))),
        ("8192", "4096", Some((3072, 4096, 'd'))),
        ("1024", "unlimited", Some((0, 1024, 'v'))),
        ("unlimited", "unlimited", None),
    ] {
        let root = tree(&[("proc/self/limits", &limits(address, data)), ("proc/self/status", status)]);
        let limit = expected.map(|(bytes, limit, option)| MemoryLimit {
            available: bytes,
            total: limit,
            source: LimitSource::Process { option },
        });
        assert_eq!(ulimit(root.path()), limit);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn this_machine_has_memory() {
    let limits = read_limits(Path::new("/"));
    let node = limits.iter().find(|limit| limit.source == LimitSource::Node).unwrap();
    assert!(node.available > MIB && node.available <= node.total, "{node:?}");
    assert!(limits.iter().all(|limit| limit.available <= limit.total), "{limits:?}");
    // A byte fits, and no machine has 2^63.
    assert!(check_memory(&World::alone(), 1).unwrap().margin.unwrap() < node.total);
    let error = check_memory(&World::alone(), 1 << 63).unwrap_err();
    assert!(error.downcast_ref::<InsufficientMemory>().is_some(), "{error}");
    assert_eq!(error.status(), ExitStatus::BadInput);
}

fn on_node(bytes: u64, limit: u64) -> MemoryLimit {
    MemoryLimit { available: bytes, total: limit, source: LimitSource::Node }
}

fn in_group(bytes: u64, limit: u64, id: u64) -> MemoryLimit {
    let file = format!("/sys/fs/cgroup/job_{id}/memory.max");
    MemoryLimit { available: bytes, total: limit, source: LimitSource::Cgroup { id, file } }
}

fn rank_memory(node: &str, need: u64, limits: &[MemoryLimit]) -> RankMemory {
    RankMemory { node: node.into(), need, limits: limits.to_vec() }
}

#[test]
fn refuses_nothing_if_limits_are_unknown() {
    let fits = check_ranks(&World::alone(), rank_memory("mac", u64::MAX, &[])).unwrap();
    assert_eq!(fits, MemoryBudget { need: u64::MAX, nodes: 1, margin: None });
    assert_eq!(MemoryBudget { need: 3 * GIB, ..fits }.to_string(), "3.0 GiB of memory");
}

#[test]
fn accepts_what_fits_to_the_byte() {
    let nodes = Nodes::new(vec![0, 0, 2]);
    let rank = |node, need, free| rank_memory(node, need, &[on_node(free, 9 * GIB)]);
    let full = [rank("a", GIB, 3 * GIB), rank("a", 2 * GIB, 4 * GIB), rank("b", GIB, 3 * GIB)];
    let fits = check_limits(&full, &nodes).unwrap();
    assert_eq!(fits, MemoryBudget { need: 4 * GIB, nodes: 2, margin: Some(0) });
    assert_eq!(fits.to_string(), "4.0 GiB of memory on 2 nodes, at least 0 B to spare");
    let over = [rank("a", GIB, 3 * GIB), rank("a", 2 * GIB + 1, 4 * GIB), rank("b", GIB, 3 * GIB)];
    assert_eq!(
        check_limits(&over, &nodes).unwrap_err().to_string(),
        "node a: 3.0 GiB of memory needed for 2 ranks, but only 3.0 GiB of 9.0 GiB is free, 1 B too little; end \
         other programs there, use more nodes, or nodes with more memory; fewer ranks hold as many rows and will \
         not help"
    );
}

#[test]
fn names_the_node_that_lacks_most() {
    let rank = |node, need| rank_memory(node, need, &[on_node(3 * GIB, 4 * GIB)]);
    let ranks = [rank("a", 4 * GIB), rank("b", 6 * GIB), rank("c", GIB), rank("d", 6 * GIB)];
    assert_eq!(
        check_limits(&ranks, &Nodes::new(vec![0, 1, 2, 3])).unwrap_err().to_string(),
        "node b: 6.0 GiB of memory needed for 1 rank, but only 3.0 GiB of 4.0 GiB is free, 3.0 GiB too little \
         (and 2 other nodes have too little); use more nodes, or nodes with more memory"
    );
}

#[test]
fn ranks_of_a_group_share_its_limit() {
    let nodes = Nodes::new(vec![0, 0]);
    let rank = |group| {
        rank_memory("n17", 24 * GIB, &[on_node(64 * GIB, 64 * GIB), in_group(31 * GIB, 32 * GIB, group)])
    };
    // In separate containers, each rank has a whole limit.
    assert_eq!(check_limits(&[rank(5), rank(6)], &nodes).unwrap().margin, Some(7 * GIB));
    assert_eq!(
        check_limits(&[rank(5), rank(5)], &nodes).unwrap_err().to_string(),
        "node n17: 48.0 GiB of memory needed for 2 ranks, but the limit of the job or container leaves only \
         31.0 GiB of 32.0 GiB (/sys/fs/cgroup/job_5/memory.max), 17.0 GiB too little; request more (Slurm: \
         --mem=49G, Docker: --memory=49g), or use more nodes; fewer ranks hold as many rows and will not help"
    );
    // The same inode on another node is another group.
    assert!(check_limits(&[rank(5), rank(5)], &Nodes::new(vec![0, 1])).is_ok());
}

#[test]
fn ulimits_apply_to_single_processes() {
    let limit =
        MemoryLimit { available: 2 * GIB, total: 4 * GIB, source: LimitSource::Process { option: 'v' } };
    let rank = |need| rank_memory("n17", need, &[on_node(64 * GIB, 64 * GIB), limit.clone()]);
    let nodes = Nodes::new(vec![0, 0]);
    assert_eq!(check_limits(&[rank(GIB), rank(2 * GIB)], &nodes).unwrap().margin, Some(0));
    assert_eq!(
        check_limits(&[rank(GIB), rank(6 * GIB)], &nodes).unwrap_err().to_string(),
        "rank 1 on node n17: 6.0 GiB of memory needed, but `ulimit -v` leaves only 2.0 GiB of 4.0 GiB, 4.0 GiB \
         too little; raise it where the job is started (ulimit -v unlimited; Slurm: --propagate=NONE), or use \
         more ranks, so that each holds fewer rows"
    );
}

#[test]
fn refuses_needs_that_overflow() {
    let rank = |need| rank_memory("a", need, &[on_node(GIB, GIB)]);
    let refused = check_limits(&[rank(u64::MAX), rank(u64::MAX)], &Nodes::new(vec![0, 0])).unwrap_err();
    assert_eq!(refused.need, u64::MAX);
}
