//! The processors of the node and those that this process may use.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cgroup::{Group, Version, groups};
use super::{CpuSet, read_number};

/// The processors of a node, as one process sees them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Processors {
    pub online: CpuSet,
    /// Processors of the job or container, to which its processes can be bound.
    pub granted: CpuSet,
    /// Processors of the affinity mask of this process.
    pub allowed: CpuSet,
    /// Limits on processor time, the tightest first.
    pub quotas: Vec<Quota>,
    pub sockets: usize,
    /// NUMA nodes with memory.
    pub memory_nodes: usize,
    /// Bytes of all last-level caches of the node; 0 if unknown.
    pub cache_bytes: u64,
}

/// A limit on the processor time of a control group, in processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quota {
    pub processors: f64,
    /// Identifies the group on its node.
    pub id: u64,
}

impl Processors {
    /// Reads the files below `root`.
    pub fn detect(root: &Path) -> Processors {
        let list = |file: &str| read_cpus(&root.join(file));
        let status = std::fs::read_to_string(root.join("proc/self/status")).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        // Without such files (macOS) processes are not bound.
        let allowed = mask.and_then(|list| list.parse().ok()).filter(|set: &CpuSet| !set.is_empty());
        let allowed = allowed
            .unwrap_or_else(|| CpuSet::first(std::thread::available_parallelism().map_or(1, Into::into)));
        let online = list("sys/devices/system/cpu/online").unwrap_or_else(|| allowed.clone());
        let granted = granted(root).unwrap_or_else(|| online.clone());
        let cpu = |cpu: u32| root.join(format!("sys/devices/system/cpu/cpu{cpu}"));
        let package = |number: u32| read_number(&cpu(number).join("topology/physical_package_id"));
        let packages: BTreeSet<u64> = online.iter().filter_map(package).collect();
        let caches: BTreeSet<_> = online.iter().filter_map(|number| last_cache(&cpu(number))).collect();
        Processors {
            quotas: quotas(root),
            sockets: packages.len().max(1),
            memory_nodes: list("sys/devices/system/node/has_memory").map_or(1, |nodes| nodes.len()),
            cache_bytes: caches.iter().map(|(_, bytes)| bytes).sum(),
            online,
            granted,
            allowed,
        }
    }

    /// Whether this process may run on fewer processors than the job or container has.
    pub fn is_bound(&self) -> bool {
        self.allowed.len() < self.granted.len()
    }
}

/// Reads a file with a list of processors; `None` if it is empty.
fn read_cpus(file: &Path) -> Option<CpuSet> {
    let text = std::fs::read_to_string(file).ok()?;
    text.parse().ok().filter(|set: &CpuSet| !set.is_empty())
}

/// Returns the processors of this process's control group.
fn granted(root: &Path) -> Option<CpuSet> {
    let file = |version: Version| match version {
        Version::One => "cpuset.effective_cpus",
        Version::Two => "cpuset.cpus.effective",
    };
    groups(root, "cpuset").iter().find_map(|group| read_cpus(&group.directory.join(file(group.version))))
}

fn quotas(root: &Path) -> Vec<Quota> {
    let mut quotas: Vec<Quota> = groups(root, "cpu").iter().filter_map(quota).collect();
    quotas.sort_by(|a, b| a.processors.total_cmp(&b.processors));
    quotas
}

fn quota(group: &Group) -> Option<Quota> {
    let file = |name: &str| group.directory.join(name);
    let (time, period) = match group.version {
        // -1, no limit, does not parse.
        Version::One => (read_number(&file("cpu.cfs_quota_us"))?, read_number(&file("cpu.cfs_period_us"))?),
        Version::Two => {
            let text = std::fs::read_to_string(file("cpu.max")).ok()?;
            let mut words = text.split_whitespace().map(|word| word.parse::<u64>().ok());
            (words.next()??, words.next()??)
        }
    };
    let processors = time as f64 / period as f64;
    (processors > 0.0 && processors.is_finite()).then_some(Quota { processors, id: group.id()? })
}

/// Returns the last-level cache: the processors that share it, and its bytes.
fn last_cache(cpu: &Path) -> Option<(String, u64)> {
    let caches = (0..8).map(|index| cpu.join(format!("cache/index{index}")));
    let last = caches.take_while(|cache| cache.is_dir()).last()?;
    let text = std::fs::read_to_string(last.join("size")).ok()?;
    let kibibytes: u64 = text.trim().strip_suffix('K')?.parse().ok()?;
    let shared = std::fs::read_to_string(last.join("shared_cpu_list")).ok()?;
    Some((shared, kibibytes.checked_mul(1024)?))
}
