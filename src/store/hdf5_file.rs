//! Opening HDF5 files so that everything wrong with them is said clearly.

use std::io::Read;
use std::path::{Path, PathBuf};

use hdf5::file::{FileAccessBuilder, FileBuilder, OpenMode};

use super::error::{Result, StoreError};

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
        let mut magic = [0; 8];
        let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut magic).map(|_| file));
        let bytes = match read {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(StoreError::NotFound { file: path.into() });
            }
            Err(_) if path.is_dir() => return Err(StoreError::NotHdf5 { file: path.into() }),
            Err(source) => {
                return Err(StoreError::Io { file: path.into(), action: "read it", source });
            }
            // The signature may also stand behind a user block; only then does HDF5 have to look.
            Ok(_) if &magic != b"\x89HDF\r\n\x1a\n" && !hdf5_finds_signature(path) => {
                return Err(StoreError::NotHdf5 { file: path.into() });
            }
            Ok(bytes) => bytes,
        };
        let file = FileBuilder::new().with_fapl(chunk_cache).open_as(path, OpenMode::Read);
        let file = file.map_err(|error| match first_line(&error) {
            detail if detail.contains("unable to lock file") => StoreError::Locked { file: path.into() },
            detail => StoreError::Damaged { file: path.into(), detail },
        })?;
        Ok(Hdf5File { path: path.into(), file, bytes })
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

    pub(super) fn place(&self, name: &str) -> String {
        format!("{}:{name}", self.path.display())
    }

    /// Turns an error of the library into ours, with what was being done.
    pub(super) fn explain(&self, name: &str, action: &str, error: &hdf5::Error) -> StoreError {
        let detail = first_line(error);
        let place = self.place(name);
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
    access.chunk_cache(SLOTS, CACHED_BYTES, 1.0)
}

/// Places of a hash table; a prime number well above that of chunks in the cache.
const SLOTS: usize = 1009;

const CACHED_BYTES: usize = 64 << 20;

fn hdf5_finds_signature(path: &Path) -> bool {
    hdf5::File::open(path).is_ok()
}

fn first_line(error: &hdf5::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// The version of the HDF5 library in use.
pub fn library_version() -> String {
    let (major, minor, micro) = hdf5::library_version();
    format!("{major}.{minor}.{micro}")
}
