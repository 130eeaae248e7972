//! The limits of control groups, by which Slurm, containers and systemd keep jobs within their memory.
//!
//! A process is in one group of a hierarchy, and the limits of all groups above hold for it too. Page
//! cache counts as use, but is given up before anything is refused, so here it does not.

use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::{Room, Source, field, number};

/// The files of one version of control groups.
struct Version {
    limits: &'static [&'static str],
    used: &'static str,
    /// The fields of `memory.stat` that are page cache, of the group and those below it.
    cache: [&'static str; 2],
}

const V2: Version = Version {
    // At `memory.high` nothing is killed, but the job is slowed down until it hardly moves.
    limits: &["memory.max", "memory.high"],
    used: "memory.current",
    cache: ["inactive_file", "active_file"],
};

const V1: Version = Version {
    limits: &["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    cache: ["total_inactive_file", "total_active_file"],
};

/// Version 1 writes "no limit" as the largest number of whole pages, which depends on their size.
const UNLIMITED: u64 = 1 << 60;

/// What each limited group that this process is in leaves.
pub(super) fn rooms(root: &Path) -> Vec<Room> {
    let text = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mount = root.join("sys/fs/cgroup");
    let mut rooms = Vec::new();
    for line in text.lines() {
        // hierarchy:controllers:path
        let mut parts = line.splitn(3, ':');
        let (Some(hierarchy), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        if controllers.split(',').any(|name| name == "memory") {
            rooms.extend(V1.rooms(&mount.join("memory"), path));
        } else if hierarchy == "0" && controllers.is_empty() {
            // Beside version 1, version 2 has a place of its own.
            let alone = mount.join("cgroup.controllers").exists();
            rooms.extend(V2.rooms(&if alone { mount.clone() } else { mount.join("unified") }, path));
        }
    }
    rooms
}

impl Version {
    fn rooms(&self, mount: &Path, path: &str) -> Vec<Room> {
        let Some(own) = own_directory(mount, path) else { return Vec::new() };
        let above = own.ancestors().skip(1).take_while(|group| group.starts_with(mount));
        // Old kernels let a group of version 1 leave those below it alone.
        let above = above.filter(|group| number(&group.join("memory.use_hierarchy")) != Some(0));
        std::iter::once(own.as_path()).chain(above).filter_map(|group| self.room(group)).collect()
    }

    /// What the tighter limit of one group leaves.
    fn room(&self, group: &Path) -> Option<Room> {
        let id = group.metadata().ok()?.ino();
        let limits = self.limits.iter().filter_map(|name| {
            let file = group.join(name);
            Some((number(&file).filter(|&limit| limit < UNLIMITED)?, file))
        });
        let (limit, file) = limits.min_by_key(|(limit, _)| *limit)?;
        Some(Room::new(limit, self.used(group), Source::Cgroup { id, file: file.display().to_string() }))
    }

    /// Bytes in use that will not be given up.
    fn used(&self, group: &Path) -> Option<u64> {
        let all = number(&group.join(self.used))?;
        let text = std::fs::read_to_string(group.join("memory.stat")).ok()?;
        let [inactive, active] = self.cache.map(|name| field(&text, name));
        Some(all.saturating_sub(inactive?.saturating_add(active?)))
    }
}

/// The directory of the group at `path`. A container may see the path as the host does, but has its own
/// group at the mount; a process that was moved out of its namespace has no directory to be seen.
fn own_directory(mount: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path.trim_start_matches('/'));
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let own = mount.join(path);
    Some(if own.is_dir() { own } else { mount.to_owned() })
}
