//! Two files: the newest snapshot, and the one before.
//!
//! The newest is written beside both, synced, and renamed, so under either name there is a whole snapshot or none. What
//! it is written into is the file of the one before last: most of what it must hold is in there already.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::format::Content;
use super::{Fingerprint, Snapshot};
use crate::fault;
use crate::store::{followed, sync_folder};

/// Where one computation keeps its snapshots.
pub struct Checkpoint {
    file: PathBuf,
    facts: Fingerprint,
    there: There,
    newest: Option<Generation>,
    before: Option<Generation>,
}

/// What lies under the name of the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum There {
    /// A whole snapshot of this computation.
    Ours,
    /// A damaged one, or none; the one before is ours.
    Damaged,
    /// Nothing of this computation, and neither is the one before.
    Foreign,
}

/// A file of ours: it may have been moved or replaced since, then it is ours no more.
struct Generation {
    device: u64,
    inode: u64,
    content: Content,
}

/// Where the snapshot before the newest is kept.
pub(super) fn previous(file: &Path) -> PathBuf {
    with(file, ".previous")
}

/// Where the next one is written.
fn next(file: &Path) -> PathBuf {
    with(file, ".part")
}

fn with(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether an earlier run left something to go on from.
pub fn is_there(file: &Path) -> bool {
    file.symlink_metadata().is_ok() || previous(file).symlink_metadata().is_ok()
}

impl Checkpoint {
    /// For a computation that begins. What another one left is replaced, but not before there is something to
    /// replace it with.
    pub fn begin(file: &Path, facts: Fingerprint) -> Checkpoint {
        Checkpoint::at(file, facts, There::Foreign)
    }

    pub(super) fn at(file: &Path, facts: Fingerprint, there: There) -> Checkpoint {
        Checkpoint { file: followed(file), facts, there, newest: None, before: None }
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Makes `snapshot` the newest, for good. On an error the newest stays what it was. Returns the bytes written.
    pub fn save(&mut self, snapshot: &Snapshot) -> io::Result<u64> {
        let next = next(&self.file);
        let saved = self.write(&next, snapshot);
        if saved.is_err() {
            let _ = fs::remove_file(&next);
        }
        saved
    }

    fn write(&mut self, next: &Path, snapshot: &Snapshot) -> io::Result<u64> {
        let previous = previous(&self.file);
        let (mut file, mut content) = match self.before.take().filter(|before| before.is_at(&previous)) {
            Some(before) => {
                fs::rename(&previous, next)?;
                (File::options().write(true).open(next)?, before.content)
            }
            None => (File::create(next)?, Content::default()),
        };
        let bytes = content.update(&mut file, &self.facts, snapshot)?;
        fault::at(0, "save").map_err(io::Error::other)?;
        file.sync_all()?;
        let there = file.metadata()?;
        // Between these two renames the one before is all there is, and that is enough.
        if self.there == There::Ours {
            unless_missing(fs::rename(&self.file, &previous))?;
            self.before = self.newest.take();
        }
        fs::rename(next, &self.file)?;
        if self.there == There::Foreign {
            unless_missing(fs::remove_file(&previous))?;
        }
        self.there = There::Ours;
        self.newest = Some(Generation { device: there.dev(), inode: there.ino(), content });
        sync_folder(&self.file)?;
        Ok(bytes)
    }

    /// The computation is done: nothing is left behind.
    pub fn remove(self) -> io::Result<()> {
        for file in [next(&self.file), previous(&self.file), self.file] {
            unless_missing(fs::remove_file(file))?;
        }
        Ok(())
    }
}

/// Somebody may have tidied up behind us.
fn unless_missing(done: io::Result<()>) -> io::Result<()> {
    done.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

impl Generation {
    fn is_at(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|there| there.dev() == self.device && there.ino() == self.inode)
    }
}
