//! Checks that a load fits into memory before it begins, because the kernel kills a rank without a message if it does not.
//!
//! Memory has several limits, each shared by other ranks: the memory of the node by all ranks there, the limit of a control
//! group by the ranks in that group, a `ulimit` by none. A [`MemoryLimit`] is what one of them leaves; [`check_memory`]
//! compares each with the needs of all the ranks that share it.

mod cgroup;
mod insufficient_memory;
mod job_check;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use insufficient_memory::InsufficientMemory;
pub use job_check::{MemoryBudget, check_memory};

use crate::machine::proc_field;

/// The memory that one limit leaves now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryLimit {
    /// Bytes that can still be allocated.
    pub available: u64,
    /// Bytes of the whole limit.
    pub total: u64,
    pub source: LimitSource,
}

/// The source of a limit, which decides who shares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitSource {
    /// The memory of the node, shared by all ranks there.
    Node,
    /// A control group (a Slurm job, a container, a service), shared by the ranks in it and identified by the inode of its
    /// directory, because paths differ between containers.
    Cgroup { id: u64, file: String },
    /// A resource limit of this process alone, by the option of `ulimit` that sets it.
    Process { option: char },
}

impl MemoryLimit {
    /// If the use is unknown, all of the limit counts as available, so that only what can never fit is refused.
    fn new(limit: u64, used: Option<u64>, source: LimitSource) -> MemoryLimit {
        MemoryLimit { available: limit.saturating_sub(used.unwrap_or(0)), total: limit, source }
    }
}

/// Returns the limits of this process; none if the system does not report them (macOS), and then nothing is refused.
pub fn memory_limits() -> Vec<MemoryLimit> {
    #[cfg(debug_assertions)]
    if let Some(limits) = limits_set_by_tests() {
        return limits;
    }
    read_limits(Path::new("/"))
}

/// Returns the limits according to the files below `root`.
fn read_limits(root: &Path) -> Vec<MemoryLimit> {
    let mut limits: Vec<MemoryLimit> = node_limit(root).into_iter().collect();
    limits.extend(cgroup::limits(root));
    limits.extend(ulimit(root));
    limits
}

/// Returns the memory of the node that is available without swapping: free memory and reclaimable caches.
fn node_limit(root: &Path) -> Option<MemoryLimit> {
    let text = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let available = proc_field(&text, "MemAvailable")?;
    let total = proc_field(&text, "MemTotal").unwrap_or(available);
    Some(MemoryLimit { available, total, source: LimitSource::Node })
}

/// The resource limits of allocations: the name in `limits`, the use in `status`, the option of `ulimit`.
const ULIMITS: [(&str, &str, char); 2] =
    [("Max address space", "VmSize", 'v'), ("Max data size", "VmData", 'd')];

/// Returns the tighter resource limit of this process, if any is set.
fn ulimit(root: &Path) -> Option<MemoryLimit> {
    let read = |file: &str| std::fs::read_to_string(root.join("proc/self").join(file));
    let limits = read("limits").ok()?;
    let status = read("status").unwrap_or_default();
    let set_limits = ULIMITS.iter().filter_map(|&(name, used, option)| {
        // The first number of the line is the soft limit, which is in force.
        let limit = proc_field(&limits, name)?;
        Some(MemoryLimit::new(limit, proc_field(&status, used), LimitSource::Process { option }))
    });
    set_limits.min_by_key(|limit| limit.available)
}

/// Returns the limit of a simulated node, for tests of debug builds.
#[cfg(debug_assertions)]
fn limits_set_by_tests() -> Option<Vec<MemoryLimit>> {
    let bytes = std::env::var("MACROK_TEST_MEMORY").ok()?;
    let bytes = bytes.parse().expect("MACROK_TEST_MEMORY is a number of bytes");
    Some(vec![MemoryLimit::new(bytes, None, LimitSource::Node)])
}
