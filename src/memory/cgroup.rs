//! The memory limits of control groups, which Slurm, containers and systemd set.

use std::path::Path;

use super::{LimitSource, MemoryLimit};
use crate::machine::cgroup::{Group, Version, groups};
use crate::machine::{proc_field, read_number};

/// The files of one version of control groups.
struct CgroupFiles {
    limits: &'static [&'static str],
    used: &'static str,
    /// The fields of `memory.stat` with the page cache of the group and its descendants.
    cache: [&'static str; 2],
}

const V2: CgroupFiles = CgroupFiles {
    // Above `memory.high` processes are not killed, but slowed down until they hardly progress.
    limits: &["memory.max", "memory.high"],
    used: "memory.current",
    cache: ["inactive_file", "active_file"],
};

const V1: CgroupFiles = CgroupFiles {
    limits: &["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    cache: ["total_inactive_file", "total_active_file"],
};

/// Version 1 reports "no limit" as the largest number of whole pages, which depends on the page size.
const UNLIMITED: u64 = 1 << 60;

/// Returns the limits of the groups that this process is in.
pub(super) fn limits(root: &Path) -> Vec<MemoryLimit> {
    // In old kernels a group of version 1 may not limit its descendants.
    let applies =
        |group: &Group| group.own || read_number(&group.directory.join("memory.use_hierarchy")) != Some(0);
    groups(root, "memory").iter().filter(|group| applies(group)).filter_map(limit).collect()
}

/// Returns the tighter limit of one group.
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
    /// Returns the bytes in use without the page cache, which the kernel reclaims when memory is needed.
    fn used(&self, group: &Path) -> Option<u64> {
        let all = read_number(&group.join(self.used))?;
        let text = std::fs::read_to_string(group.join("memory.stat")).ok()?;
        let [inactive, active] = self.cache.map(|name| proc_field(&text, name));
        Some(all.saturating_sub(inactive?.saturating_add(active?)))
    }
}
