//! The file system of a path.
//!
//! It is read from the table of mounts, because `statfs` gives all FUSE file systems the same number, does not name the
//! source, and may wait for a server that is gone.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The file system of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystem {
    /// The kernel's name: `nfs4`, `lustre`, `fuse.sshfs`, `ext4`.
    pub name: String,
    /// The device, or `server:/export`.
    pub source: String,
    /// The mount point.
    pub mount: String,
}

/// The kind of a file system, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileSystemKind {
    /// On a server, for many nodes. Locks may be missing, slow, or wait forever.
    Network,
    /// In the memory of the node: lost with it, and counted as used memory.
    Memory,
    /// A disk of this node, or an unknown file system.
    Local,
}

/// Network file systems: the kernel's name and the usual one.
const NETWORK: [(&str, &str); 30] = [
    ("9p", "9P"),
    ("afs", "AFS"),
    ("beegfs", "BeeGFS"),
    ("ceph", "CephFS"),
    ("cifs", "SMB"),
    ("daos", "DAOS"),
    ("dvs", "DVS"),
    ("fhgfs", "BeeGFS"),
    ("fuse.ceph", "CephFS"),
    ("fuse.ceph-fuse", "CephFS"),
    ("fuse.daos", "DAOS"),
    ("fuse.dfuse", "DAOS"),
    ("fuse.glusterfs", "GlusterFS"),
    ("fuse.juicefs", "JuiceFS"),
    ("fuse.mfs", "MooseFS"),
    ("fuse.quobyte", "Quobyte"),
    ("fuse.s3fs", "S3"),
    ("fuse.sshfs", "SSHFS"),
    ("gpfs", "GPFS"),
    ("lustre", "Lustre"),
    ("nfs", "NFS"),
    ("nfs4", "NFS 4"),
    ("orangefs", "OrangeFS"),
    ("panfs", "PanFS"),
    ("pvfs2", "OrangeFS"),
    ("smb3", "SMB"),
    ("smbfs", "SMB"),
    ("snfs", "StorNext"),
    ("virtiofs", "virtiofs"),
    ("wekafs", "WekaFS"),
];

const MEMORY: [&str; 3] = ["tmpfs", "ramfs", "devtmpfs"];

impl FileSystem {
    /// Returns the file system of `path`, or of the nearest existing folder above it; `None` if the files below `root` do not
    /// show it.
    pub fn of(path: &Path, root: &Path) -> Option<FileSystem> {
        let table = std::fs::read_to_string(root.join("proc/self/mountinfo")).ok()?;
        // Accessing the path first lets an automounter mount it.
        find_mount(&table, &nearest_existing(path)?)
    }

    pub fn kind(&self) -> FileSystemKind {
        if NETWORK.iter().any(|(name, _)| *name == self.name) {
            FileSystemKind::Network
        } else if MEMORY.contains(&self.name.as_str()) {
            FileSystemKind::Memory
        } else {
            FileSystemKind::Local
        }
    }
}

/// `NFS 4 (server:/home on /home)`.
impl fmt::Display for FileSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = NETWORK.iter().find(|(name, _)| *name == self.name);
        write!(f, "{} ({} on {})", known.map_or(&*self.name, |(_, usual)| usual), self.source, self.mount)
    }
}

/// Returns the path, or the nearest existing folder above it, without links.
fn nearest_existing(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find_map(|ancestor| ancestor.canonicalize().ok())
}

/// Returns the mount that holds `path`. The last of several mounts at one place hides the others.
fn find_mount(table: &str, path: &Path) -> Option<FileSystem> {
    let depth =
        |mount: &str| Path::new(mount).components().filter(|part| *part != Component::RootDir).count();
    let below = table.lines().filter_map(parse_mount).filter(|entry| path.starts_with(&entry.mount));
    below.max_by_key(|entry| depth(&entry.mount))
}

/// Parses a line: `36 35 98:0 /root /mount options [fields] - type source options`.
fn parse_mount(line: &str) -> Option<FileSystem> {
    let (before, after) = line.split_once(" - ")?;
    let mut after = after.split(' ');
    Some(FileSystem {
        name: after.next()?.to_owned(),
        source: unescaped(after.next()?),
        mount: unescaped(before.split(' ').nth(4)?),
    })
}

/// Decodes octal escapes such as `\040`.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let octal = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok();
        match behind.get(..3).filter(|_| first == b'\\').and_then(octal) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[3..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 27 0:40 / /home rw,relatime shared:9 master:1 - nfs4 filer:/export/home rw,vers=4.2,local_lock=none
31 27 0:41 / /scratch rw,flock - lustre 10.0.0.1@o2ib:/scratch rw,flock,lazystatfs
32 27 0:42 / /tmp rw - tmpfs tmpfs rw
33 32 0:43 / /tmp/with\\040space rw - fuse.sshfs me@host: rw
34 27 0:44 / /hidden rw - xfs /dev/sdb rw
35 27 0:45 / /hidden rw - gpfs fs1 rw
36 27 0:46 / /newer rw - fuse.unheard-of what rw
";

    fn of(path: &str) -> FileSystem {
        find_mount(TABLE, Path::new(path)).unwrap()
    }

    #[test]
    fn finds_the_deepest_and_last_mount() {
        for (path, name, kind) in [
            ("/data.h5", "ext4", FileSystemKind::Local),
            ("/homework/data.h5", "ext4", FileSystemKind::Local),
            ("/home/me/data.h5", "nfs4", FileSystemKind::Network),
            ("/scratch", "lustre", FileSystemKind::Network),
            ("/tmp/x", "tmpfs", FileSystemKind::Memory),
            ("/tmp/with space/x", "fuse.sshfs", FileSystemKind::Network),
            ("/hidden/x", "gpfs", FileSystemKind::Network),
            ("/newer/x", "fuse.unheard-of", FileSystemKind::Local),
        ] {
            let found = of(path);
            assert_eq!((found.name.as_str(), found.kind()), (name, kind), "{path}");
        }
        assert_eq!(of("/home/me/x").to_string(), "NFS 4 (filer:/export/home on /home)");
        assert_eq!(of("/tmp/with space/x").mount, "/tmp/with space");
    }

    #[test]
    fn ignores_garbage_lines() {
        for table in ["", "\n", "a b - c", "1 2 3 4 /\\9 rw - x y"] {
            assert_eq!(find_mount(table, Path::new("/a")), None, "{table}");
        }
        assert_eq!(unescaped("\\04"), "\\04");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn finds_the_mount_of_every_path_of_this_machine() {
        let root = Path::new("/");
        let proc = FileSystem::of(Path::new("/proc/self/status"), root).unwrap();
        assert_eq!(proc.name, "proc");
        let folder = tempfile::tempdir().unwrap();
        let there = FileSystem::of(folder.path(), root).unwrap();
        assert_eq!(FileSystem::of(&folder.path().join("not/there/yet.h5"), root), Some(there));
    }
}
