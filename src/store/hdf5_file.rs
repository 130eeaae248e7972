//! Opening HDF5 files, with an error for each way in which a file can be unusable.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use hdf5::file::{FileBuilder, OpenMode};

use super::error::{Result, StoreError};
use super::file_locks::{LockMode, LockProblem, lock_problem};
use super::text::read_text_attribute;

/// An HDF5 file opened for reading. Clones share the open file.
#[derive(Clone)]
pub struct Hdf5File {
    pub(super) path: Arc<Path>,
    pub(super) file: hdf5::File,
    /// Another handle of the file, for datasets that can be read without the library.
    pub(super) bytes: Arc<File>,
}

impl Hdf5File {
    pub fn open(path: &Path) -> Result<Hdf5File> {
        hdf5::silence_errors(true);
        let bytes = open_bytes(path)?;
        let open = |locks: LockMode| {
            FileBuilder::new()
                .with_fapl(|access| locks.set(access.chunk_cache(CHUNK_CACHE.0, CHUNK_CACHE.1, 1.0)))
                .open_as(path, OpenMode::Read)
        };
        let usual = LockMode::for_reading(path);
        let file = open(usual).or_else(|error| match lock_problem(&first_line(&error)) {
            Some(LockProblem::NoLocks) => open(LockMode::Unlocked),
            Some(LockProblem::OpenWithOtherMode) => open(usual.other()),
            _ => Err(error),
        });
        let file = file.map_err(|error| {
            let (file, detail) = (path.into(), first_line(&error));
            match lock_problem(&detail) {
                Some(LockProblem::Held) => StoreError::Locked { file },
                Some(LockProblem::NoLocks) => StoreError::NoLocks { file },
                Some(LockProblem::OpenWithOtherMode) | None => StoreError::Damaged { file, detail },
            }
        })?;
        Ok(Hdf5File { path: path.into(), file, bytes: bytes.into() })
    }

    /// Returns the open file, for layouts defined in other modules.
    pub fn hdf5(&self) -> &hdf5::File {
        &self.file
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the names of the groups and datasets at the top level.
    pub fn members(&self) -> Vec<String> {
        self.file.member_names().unwrap_or_default()
    }

    pub fn has(&self, name: &str) -> bool {
        self.file.link_exists(name)
    }

    pub(super) fn place_of(&self, name: &str) -> String {
        format!("{}:{name}", self.path.display())
    }

    /// Converts an error of the library that occurred during `action`.
    pub fn hdf5_error(&self, name: &str, action: &str, error: &hdf5::Error) -> StoreError {
        let detail = first_line(error);
        let place = self.place_of(name);
        if detail.contains("plugin") || detail.contains("filter") {
            return StoreError::MissingFilter { place };
        }
        // A chunk that cannot be read back is damaged input, not a failure of this program.
        if action.starts_with("reading") {
            return StoreError::Damaged { file: place.into(), detail };
        }
        StoreError::Hdf5 { place, action: action.to_owned(), detail }
    }
}

/// Reads the fingerprint of a classifier or a model, if the file has one.
pub fn read_fingerprint(path: &Path) -> Option<String> {
    read_text_attribute(&Hdf5File::open(path).ok()?.file, "made_from")
}

/// Opens a file that has the signature of HDF5.
fn open_bytes(path: &Path) -> Result<File> {
    let io = |source| StoreError::Io { file: path.into(), action: "read it", source };
    let file = File::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => StoreError::NotFound { file: path.into() },
        _ => io(error),
    })?;
    let metadata = file.metadata().map_err(io)?;
    if metadata.is_dir() {
        return Err(StoreError::IsFolder { file: path.into(), expected: "an HDF5 file" });
    }
    if metadata.is_file() && metadata.len() == 0 {
        return Err(StoreError::EmptyFile { file: path.into() });
    }
    if has_signature(&file).map_err(io)? { Ok(file) } else { Err(StoreError::NotHdf5 { file: path.into() }) }
}

/// Slots of the chunk cache (a prime well above the number of chunks) and its bytes. Several threads read compressed chunks,
/// each a block of rows at its own place: a chunk must stay until its last block has been read, or it is decompressed for
/// each of them.
const CHUNK_CACHE: (usize, usize) = (1009, 64 << 20);

/// Looks for the signature of HDF5 at the start, or after a user block of 512 bytes, 1024, and so on.
fn has_signature(file: &File) -> std::io::Result<bool> {
    let mut found = [0; 8];
    let mut at = 0;
    while file.read_at(&mut found, at)? > 0 {
        if &found == b"\x89HDF\r\n\x1a\n" {
            return Ok(true);
        }
        at = (2 * at).max(512);
    }
    Ok(false)
}

fn first_line(error: &hdf5::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Whether the HDF5 library is thread-safe. The binding serialises its calls in any case.
pub fn library_is_thread_safe() -> bool {
    hdf5::is_library_threadsafe()
}

/// Returns the version of the HDF5 library.
pub fn library_version() -> String {
    let (major, minor, micro) = hdf5::library_version();
    format!("{major}.{minor}.{micro}")
}
