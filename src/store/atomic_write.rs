//! Writing a file whole or not at all, and only where that is allowed.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::{Result, StoreError};
use super::temp_file::{TempFile, remove_stale};

/// The treatment of an existing output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    Refuse,
    Replace,
}

impl Overwrite {
    pub fn from_force(force: bool) -> Overwrite {
        if force { Overwrite::Replace } else { Overwrite::Refuse }
    }

    /// Checks as [`Overwrite::check`] does, but accepts a pipe or a device, into which text may be written.
    pub fn check_text(self, path: &Path) -> Result<()> {
        if is_special(path) { Ok(()) } else { self.check(path) }
    }

    /// Fails if the output could not be written later.
    pub fn check(self, path: &Path) -> Result<()> {
        let names_folder = path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if path.is_dir() || names_folder {
            return Err(StoreError::IsFolder { file: path.into(), expected: "a file to write" });
        }
        // The metadata of the link itself, so that a dangling link counts as existing.
        let exists = path.symlink_metadata().is_ok();
        if exists && self == Overwrite::Refuse {
            return Err(StoreError::Exists { file: path.into() });
        }
        if is_special(path) {
            return Err(StoreError::NotRegular { file: path.into() });
        }
        let path = &resolve_symlink(path);
        let folder = parent_folder(path);
        if !folder.is_dir() {
            return Err(StoreError::NoFolder { folder });
        }
        remove_stale(path);
        // Permissions alone do not tell whether a file can be created.
        let probe = TempFile::next_to(path);
        File::create(probe.path()).map(|_| ()).map_err(|source| StoreError::Unwritable { folder, source })
    }
}

/// Whether the path is a pipe, a device or the like, which must not be replaced.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Returns the target of a link, which is replaced instead of the link.
pub fn resolve_symlink(path: &Path) -> PathBuf {
    if path.is_symlink() { path.canonicalize().unwrap_or_else(|_| path.into()) } else { path.into() }
}

/// Writes a small text file whole or not at all; into a pipe or a device it writes directly.
pub fn write_text(path: &Path, overwrite: Overwrite, text: &str) -> Result<()> {
    let io = |source| StoreError::Io { file: path.into(), action: "write it", source };
    if is_special(path) {
        return File::options()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(io);
    }
    overwrite.check(path)?;
    let path = &resolve_symlink(path);
    let temp_file = TempFile::next_to(path);
    File::create(temp_file.path()).and_then(|mut file| file.write_all(text.as_bytes())).map_err(io)?;
    temp_file.publish(path)
}

pub(super) fn parent_folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.into(),
        _ => ".".into(),
    }
}

/// Makes the name of a file that was just renamed survive a power failure.
pub fn sync_folder(path: &Path) -> std::io::Result<()> {
    File::open(parent_folder(path))?.sync_all()
}
