//! Two files: the newest snapshot, and the one before.
//!
//! The newest is written beside both, synced, and renamed, so under either name there is a whole snapshot or none. What
//! it is written into is the file of the one before last: most of what it must hold is in there already.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::format::WrittenParts;
use super::{Fingerprint, Snapshot};
use crate::fault;
use crate::store::{resolve_symlink, sync_folder};

/// Where one computation keeps its snapshots.
pub struct Checkpoint {
    file: PathBuf,
    fingerprint: Fingerprint,
    newest_status: NewestStatus,
    newest_file: Option<SnapshotFile>,
    previous_file: Option<SnapshotFile>,
}

/// What lies under the name of the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewestStatus {
    /// A whole snapshot of this computation.
    Ours,
    /// A damaged one, or none; the one before is ours.
    Damaged,
    /// Nothing of this computation, and neither is the one before.
    Foreign,
}

/// A file of ours: it may have been moved or replaced since, then it is ours no more.
struct SnapshotFile {
    device: u64,
    inode: u64,
    content: WrittenParts,
}

/// Where the snapshot before the newest is kept.
pub(super) fn previous_path(file: &Path) -> PathBuf {
    with_suffix(file, ".previous")
}

/// Where the next one is written.
fn temporary_path(file: &Path) -> PathBuf {
    with_suffix(file, ".part")
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether an earlier run left something to go on from.
pub fn snapshot_exists(file: &Path) -> bool {
    file.symlink_metadata().is_ok() || previous_path(file).symlink_metadata().is_ok()
}

impl Checkpoint {
    /// For a computation that begins. What another one left is replaced, but not before there is something to
    /// replace it with.
    pub fn begin(file: &Path, fingerprint: Fingerprint) -> Checkpoint {
        Checkpoint::at(file, fingerprint, NewestStatus::Foreign)
    }

    pub(super) fn at(file: &Path, fingerprint: Fingerprint, newest_status: NewestStatus) -> Checkpoint {
        Checkpoint {
            file: resolve_symlink(file),
            fingerprint,
            newest_status,
            newest_file: None,
            previous_file: None,
        }
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Makes `snapshot` the newest, for good. On an error the newest stays what it was. Returns the bytes written.
    pub fn save(&mut self, snapshot: &Snapshot) -> io::Result<u64> {
        let next = temporary_path(&self.file);
        let saved = self.write(&next, snapshot);
        if saved.is_err() {
            let _ = fs::remove_file(&next);
        }
        saved
    }

    fn write(&mut self, next: &Path, snapshot: &Snapshot) -> io::Result<u64> {
        let previous = previous_path(&self.file);
        let (mut file, mut content) = match self.previous_file.take().filter(|before| before.is_at(&previous))
        {
            Some(before) => {
                fs::rename(&previous, next)?;
                (File::options().write(true).open(next)?, before.content)
            }
            None => (File::create(next)?, WrittenParts::default()),
        };
        let bytes = content.update(&mut file, &self.fingerprint, snapshot)?;
        fault::inject(0, "save").map_err(io::Error::other)?;
        file.sync_all()?;
        let there = file.metadata()?;
        // Between these two renames the one before is all there is, and that is enough.
        if self.newest_status == NewestStatus::Ours {
            ignore_missing(fs::rename(&self.file, &previous))?;
            self.previous_file = self.newest_file.take();
        }
        fs::rename(next, &self.file)?;
        if self.newest_status == NewestStatus::Foreign {
            ignore_missing(fs::remove_file(&previous))?;
        }
        self.newest_status = NewestStatus::Ours;
        self.newest_file = Some(SnapshotFile { device: there.dev(), inode: there.ino(), content });
        sync_folder(&self.file)?;
        Ok(bytes)
    }

    /// The computation is done: nothing is left behind.
    pub fn remove(self) -> io::Result<()> {
        for file in [temporary_path(&self.file), previous_path(&self.file), self.file] {
            ignore_missing(fs::remove_file(file))?;
        }
        Ok(())
    }
}

/// Somebody may have tidied up behind us.
fn ignore_missing(done: io::Result<()>) -> io::Result<()> {
    done.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

impl SnapshotFile {
    fn is_at(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|there| there.dev() == self.device && there.ino() == self.inode)
    }
}
