//! Whether what is about to be loaded will fit: asked before loading, because the kernel's own answer
//! to too much is to kill a rank in the middle of it, without a word.
//!
//! Memory has several limits, and each is shared by others: the memory of the node by all ranks there,
//! the limit of a control group by the ranks in that group, a `ulimit` by nobody. A [`MemoryLimit`] is what one
//! of them leaves; [`check_memory`] compares each with the needs of all the ranks that share it.

mod cgroup;
mod insufficient_memory;
mod job_check;
mod meminfo;
#[cfg(test)]
mod tests;
mod ulimit;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use insufficient_memory::InsufficientMemory;
pub use job_check::{MemoryBudget, check_memory};

/// What one limit leaves for us, now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryLimit {
    /// Bytes that can still be taken.
    pub available: u64,
    /// Bytes there are in all.
    pub total: u64,
    pub source: LimitSource,
}

/// Where a limit comes from, and with that, who shares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitSource {
    /// The memory of the node, shared by all ranks there.
    Node,
    /// A control group (a Slurm job, a container, a service), shared by the ranks in it. Paths differ
    /// between containers; the number of the group's directory does not.
    Cgroup { id: u64, file: String },
    /// A resource limit of this process alone, by the option of `ulimit` that sets it.
    Process { option: char },
}

impl MemoryLimit {
    /// Where what is in use cannot be read, all of the limit counts as free: then only what can never
    /// fit is refused.
    fn new(limit: u64, used: Option<u64>, source: LimitSource) -> MemoryLimit {
        MemoryLimit { available: limit.saturating_sub(used.unwrap_or(0)), total: limit, source }
    }
}

/// Every limit this process is under; none where the system does not tell (macOS), and then nothing is
/// refused.
pub fn memory_limits() -> Vec<MemoryLimit> {
    #[cfg(debug_assertions)]
    if let Some(limits) = limits_set_by_tests() {
        return limits;
    }
    read_limits(Path::new("/"))
}

/// The same, as the files below `root` tell it.
fn read_limits(root: &Path) -> Vec<MemoryLimit> {
    let mut limits: Vec<MemoryLimit> = meminfo::limit(root).into_iter().collect();
    limits.extend(cgroup::limits(root));
    limits.extend(ulimit::limit(root));
    limits
}

/// Lets tests see what becomes of a job on a node with this much memory. Not in release builds.
#[cfg(debug_assertions)]
fn limits_set_by_tests() -> Option<Vec<MemoryLimit>> {
    let bytes = std::env::var("MACROK_TEST_MEMORY").ok()?;
    let bytes = bytes.parse().expect("MACROK_TEST_MEMORY is a number of bytes");
    Some(vec![MemoryLimit { available: bytes, total: bytes, source: LimitSource::Node }])
}
