//! Opening HDF5 files so that everything wrong with them is said clearly.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hdf5::file::{FileAccessBuilder, FileBuilder, OpenMode};

use super::error::{Result, StoreError};
use super::file_locks::{LockMode, LockProblem, lock_problem};

/// An HDF5 file opened for reading.
pub struct Hdf5File {
    pub(super) path: PathBuf,
    pub(super) file: hdf5::File,
    /// The same file, for bytes that need no library to read.
    pub(super) bytes: std::fs::File,
}

impl Hdf5File {
    pub fn open(path: &Path) -> Result<Hdf5File> {
        hdf5::silence_errors(true);
        let bytes = match std::fs::File::open(path).and_then(|file| Ok((has_signature(&file)?, file))) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(StoreError::NotFound { file: path.into() });
            }
            Err(_) if path.is_dir() => return Err(StoreError::NotHdf5 { file: path.into() }),
            Err(source) => {
                return Err(StoreError::Io { file: path.into(), action: "read it", source });
            }
            Ok((false, _)) => return Err(StoreError::NotHdf5 { file: path.into() }),
            Ok((true, bytes)) => bytes,
        };
        let open = |locks: LockMode| {
            FileBuilder::new()
                .with_fapl(|access| locks.set(chunk_cache(access)))
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
        Ok(Hdf5File { path: path.into(), file, bytes })
    }

    /// The open file, for layouts defined in other modules.
    pub fn hdf5(&self) -> &hdf5::File {
        &self.file
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of the groups and datasets at the top.
    pub fn members(&self) -> Vec<String> {
        self.file.member_names().unwrap_or_default()
    }

    pub fn has(&self, name: &str) -> bool {
        self.file.link_exists(name)
    }

    /// A dataset at the top, if it is there.
    pub fn dataset(&self, name: &str) -> Option<hdf5::Dataset> {
        self.file.dataset(name).ok()
    }

    /// A text attribute of a group or dataset, if it is there.
    pub fn text_attribute(&self, of: &str, name: &str) -> Option<String> {
        if let Ok(group) = self.file.group(of) {
            return super::matrix_file::read_text_attribute(&group, name);
        }
        let dataset = self.file.dataset(of).ok()?;
        super::matrix_file::read_text_attribute(&dataset, name)
    }

    pub(super) fn place_of(&self, name: &str) -> String {
        format!("{}:{name}", self.path.display())
    }

    /// Turns an error of the library into ours, with what was being done.
    pub fn hdf5_error(&self, name: &str, action: &str, error: &hdf5::Error) -> StoreError {
        let detail = first_line(error);
        let place = self.place_of(name);
        if detail.contains("plugin") || detail.contains("filter") {
            return StoreError::MissingFilter { place };
        }
        // A chunk that cannot be read back is the file's fault, not this program's.
        if action.starts_with("reading") {
            return StoreError::Damaged { file: place.into(), detail };
        }
        StoreError::Hdf5 { place, action: action.to_owned(), detail }
    }
}

/// Compressed chunks are read by several threads, each at a place of its own, and a block of rows at a time: a
/// chunk must stay until the last of its blocks has been read, or it is decompressed for each of them.
fn chunk_cache(access: &mut FileAccessBuilder) -> &mut FileAccessBuilder {
    access.chunk_cache(CHUNK_CACHE_SLOTS, CHUNK_CACHE_BYTES, 1.0)
}

/// Places of a hash table; a prime number well above that of chunks in the cache.
const CHUNK_CACHE_SLOTS: usize = 1009;

const CHUNK_CACHE_BYTES: usize = 64 << 20;

/// Whether the signature of HDF5 is where it may be: at the beginning, or behind a user block of 512 bytes, 1024,
/// and so on.
fn has_signature(file: &std::fs::File) -> std::io::Result<bool> {
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

/// Whether several threads may call the HDF5 library in use. The binding lets only one do so in any case.
pub fn library_is_thread_safe() -> bool {
    hdf5::is_library_threadsafe()
}

/// The version of the HDF5 library in use.
pub fn library_version() -> String {
    let (major, minor, micro) = hdf5::library_version();
    format!("{major}.{minor}.{micro}")
}
