//! Settings of the node that can slow jobs down or end them.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// Settings of a node; `None` if unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSettings {
    /// Use of 2 MiB pages: `always`, `madvise` (on request, as by macrok) or `never`.
    pub huge_pages: Option<String>,
    /// Limit on the bytes this process may lock in memory (`ulimit -l`).
    pub locked_memory: Option<u64>,
    /// Whether the node has a network adapter that needs locked memory.
    pub infiniband: bool,
}

impl NodeSettings {
    pub fn detect(root: &Path) -> NodeSettings {
        let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap_or_default();
        let pages = read("sys/kernel/mm/transparent_hugepage/enabled");
        let chosen = pages.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        NodeSettings {
            huge_pages: chosen.map(|(name, _)| name.to_owned()),
            // "unlimited" does not parse.
            locked_memory: super::proc_field(&read("proc/self/limits"), "Max locked memory"),
            infiniband: root
                .join("sys/class/infiniband")
                .read_dir()
                .is_ok_and(|mut all| all.next().is_some()),
        }
    }
}
