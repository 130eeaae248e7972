//! The limits of control groups, by which Slurm, containers and systemd keep jobs within their memory.
//!
//! Page cache counts as use, but is given up before anything is refused, so here it does not.

use std::path::Path;

use super::{LimitSource, MemoryLimit};
use crate::machine::cgroup::{Group, Version, groups};
use crate::machine::{proc_field, read_number};

/// The files of one version of control groups.
struct CgroupFiles {
    limits: &'static [&'static str],
    used: &'static str,
    /// The fields of `memory.stat` that are page cache, of the group and those below it.
    cache: [&'static str; 2],
}

const V2: CgroupFiles = CgroupFiles {
    // At `memory.high` nothing is killed, but the job is slowed down until it hardly moves.
    limits: &["memory.max", "memory.high"],
    used: "memory.current",
    cache: ["inactive_file", "active_file"],
};

const V1: CgroupFiles = CgroupFiles {
    limits: &["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    cache: ["total_inactive_file", "total_active_file"],
};

/// Version 1 writes "no limit" as the largest number of whole pages, which depends on their size.
const UNLIMITED: u64 = 1 << 60;

/// What each limited group that this process is in leaves.
pub(super) fn limits(root: &Path) -> Vec<MemoryLimit> {
    // Old kernels let a group of version 1 leave those below it alone.
    let holds =
        |group: &Group| group.own || read_number(&group.directory.join("memory.use_hierarchy")) != Some(0);
    groups(root, "memory").iter().filter(|group| holds(group)).filter_map(limit).collect()
}

/// What the tighter limit of one group leaves.
fn limit(group: &Group) -> Option<MemoryLimit> {
    let files = match group.version {
        Version::One => V1,
        Version::Two => V2,
    };
    let id = group.id()?;
    let limits = files.limits.iter().filter_map(|name| {
        let file = group.directory.join(name);
        Some((read_number(&file).filter(|&limit| limit < UNLIMITED)?, file))
    });
    let (limit, file) = limits.min_by_key(|(limit, _)| *limit)?;
    let used = files.used(&group.directory);
    Some(MemoryLimit::new(limit, used, LimitSource::Cgroup { id, file: file.display().to_string() }))
}

impl CgroupFiles {
    /// Bytes in use that will not be given up.
    fn used(&self, group: &Path) -> Option<u64> {
        let all = read_number(&group.join(self.used))?;
        let text = std::fs::read_to_string(group.join("memory.stat")).ok()?;
        let [inactive, active] = self.cache.map(|name| proc_field(&text, name));
        Some(all.saturating_sub(inactive?.saturating_add(active?)))
    }
}
