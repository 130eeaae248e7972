//! Settings of the node that make jobs slow or end them.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// As the files below `/proc` and `/sys` tell; `None` where they do not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSettings {
    /// When memory comes in pages of 2 MiB: `always`, `madvise` (macrok asks for them) or `never`.
    pub huge_pages: Option<String>,
    /// Bytes this process may lock in memory, where that is limited (`ulimit -l`).
    pub locked_memory: Option<u64>,
    /// Whether the node has a network adapter that wants locked memory.
    pub infiniband: bool,
}

impl NodeSettings {
    pub fn detect(root: &Path) -> NodeSettings {
        let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap_or_default();
        let pages = read("sys/kernel/mm/transparent_hugepage/enabled");
        let chosen = pages.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        NodeSettings {
            huge_pages: chosen.map(|(name, _)| name.to_owned()),
            // "unlimited" is no number.
            locked_memory: super::proc_field(&read("proc/self/limits"), "Max locked memory"),
            infiniband: root
                .join("sys/class/infiniband")
                .read_dir()
                .is_ok_and(|mut all| all.next().is_some()),
        }
    }
}
