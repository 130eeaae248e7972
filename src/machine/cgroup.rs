//! Control groups, with which Slurm, containers and systemd limit jobs to their share of a node.
//!
//! A process is in one group of a hierarchy, and the limits of all groups above apply to it too.

use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    One,
    Two,
}

/// A group of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub version: Version,
    pub directory: PathBuf,
    /// The group the process is in, not one above it.
    pub own: bool,
}

impl Group {
    /// Returns a number that identifies the group on its node; paths differ between containers.
    pub fn id(&self) -> Option<u64> {
        Some(self.directory.metadata().ok()?.ino())
    }
}

/// Returns the groups in which `controller` (`memory`, `cpu`, `cpuset`) may limit this process: its own, then those above.
pub fn groups(root: &Path, controller: &str) -> Vec<Group> {
    let text = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mount = root.join("sys/fs/cgroup");
    let mut groups = Vec::new();
    for line in text.lines() {
        // hierarchy:controllers:path
        let mut parts = line.splitn(3, ':');
        let (Some(hierarchy), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        if controllers.split(',').any(|name| name == controller) {
            groups.extend(upwards(Version::One, &mount.join(controller), path));
        } else if hierarchy == "0" && controllers.is_empty() {
            // With version 1 mounted too, version 2 is in a separate directory.
            let alone = mount.join("cgroup.controllers").exists();
            let mount = if alone { mount.clone() } else { mount.join("unified") };
            groups.extend(upwards(Version::Two, &mount, path));
        }
    }
    groups
}

fn upwards(version: Version, mount: &Path, path: &str) -> Vec<Group> {
    let Some(own) = own_directory(mount, path) else { return Vec::new() };
    let directories = own.ancestors().take_while(|directory| directory.starts_with(mount));
    let group = |directory: &Path| Group { version, directory: directory.to_owned(), own: directory == own };
    directories.map(group).collect()
}

/// Returns the directory of the group at `path`. A container may see the path of the host while its group is at the mount; a
/// process that was moved out of its namespace sees no directory.
fn own_directory(mount: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path.trim_start_matches('/'));
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let own = mount.join(path);
    Some(if own.is_dir() { own } else { mount.to_owned() })
}
