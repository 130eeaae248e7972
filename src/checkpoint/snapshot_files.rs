//! The two files of a checkpoint: the newest snapshot and the one before it.
//!
//! The next snapshot is written to a third file, synced, and renamed, so either file is complete or absent. The third file is
//! that of the snapshot before last, which has most of the parts already.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::format::WrittenParts;
use super::{Fingerprint, Snapshot};
use crate::fault;
use crate::store::{resolve_symlink, sync_folder};

/// The files of one computation.
pub struct Checkpoint {
    file: PathBuf,
    fingerprint: Fingerprint,
    newest_status: NewestStatus,
    newest_file: Option<SnapshotFile>,
    previous_file: Option<SnapshotFile>,
}

/// The state of the newest file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewestStatus {
    /// An intact snapshot of this computation.
    Ours,
    /// Damaged or missing; the one before is of this computation.
    Damaged,
    /// Not of this computation, and neither is the one before.
    Foreign,
}

/// A file that this process wrote, unless it has been moved or replaced since.
struct SnapshotFile {
    device: u64,
    inode: u64,
    content: WrittenParts,
}

pub(super) fn previous_path(file: &Path) -> PathBuf {
    with_suffix(file, ".previous")
}

fn temporary_path(file: &Path) -> PathBuf {
    with_suffix(file, ".part")
}

pub(super) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns whether an earlier run left a snapshot.
pub fn snapshot_exists(file: &Path) -> bool {
    file.symlink_metadata().is_ok() || previous_path(file).symlink_metadata().is_ok()
}

impl Checkpoint {
    /// Starts the checkpoint of a new computation. The first save replaces the files of another one.
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

    /// Saves `snapshot` durably as the newest, and returns the bytes written. After an error, the newest is unchanged.
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
        // Between these two renames, the file before the newest is the only one, which suffices.
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

    /// Deletes all files.
    pub fn remove(self) -> io::Result<()> {
        for file in [temporary_path(&self.file), previous_path(&self.file), self.file] {
            ignore_missing(fs::remove_file(file))?;
        }
        Ok(())
    }
}

/// Ignores that a file has already been deleted.
fn ignore_missing(done: io::Result<()>) -> io::Result<()> {
    done.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

impl SnapshotFile {
    fn is_at(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|there| there.dev() == self.device && there.ino() == self.inode)
    }
}
