//! The locks that HDF5 puts on files, and when to avoid them.
//!
//! HDF5 locks every file it opens, to keep readers from a file that is being written. On network file systems a lock may
//! be refused, or waited for forever when the lock service is down, and requests by thousands of ranks overload it.
//! Files there are read without locks. Files that macrok writes appear whole, by a rename, and need none.
//! `HDF5_USE_FILE_LOCKING` overrides what a program requests.

use std::io::{Error, ErrorKind};
use std::path::Path;

use hdf5::file::FileAccessBuilder;

use crate::machine::{FileSystem, FileSystemKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockMode {
    /// HDF5's default: shared locks for readers.
    Usual,
    Unlocked,
}

impl LockMode {
    /// Returns the mode for a file that another program may be writing.
    pub fn for_reading(path: &Path) -> LockMode {
        let network =
            FileSystem::of(path, Path::new("/")).is_some_and(|found| found.kind() == FileSystemKind::Network);
        if network { LockMode::Unlocked } else { LockMode::Usual }
    }

    pub fn other(self) -> LockMode {
        match self {
            LockMode::Usual => LockMode::Unlocked,
            LockMode::Unlocked => LockMode::Usual,
        }
    }

    /// Applies the mode, unless HDF5 is too old for that (before 1.10.7, and 1.12.0) and only the variable decides.
    pub fn set(self, access: &mut FileAccessBuilder) -> &mut FileAccessBuilder {
        #[cfg(hdf5_file_locking)]
        if self == LockMode::Unlocked {
            access.file_locking(false);
        }
        access
    }
}

/// Whether the HDF5 library that macrok was built with supports [`LockMode::Unlocked`].
pub fn reads_without_locks() -> bool {
    cfg!(hdf5_file_locking)
}

/// The reason why a file could not be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockProblem {
    /// Another program holds the lock.
    Held,
    /// The file system has no locks, or its lock service does not work.
    NoLocks,
    /// This process has the file open in the other mode.
    OpenWithOtherMode,
}

/// Returns the lock problem that an error of HDF5 reports, if any.
pub(super) fn lock_problem(detail: &str) -> Option<LockProblem> {
    if detail.contains("file locking flag values don't match") {
        return Some(LockProblem::OpenWithOtherMode);
    }
    if !["unable to lock file", "file locking disabled"].iter().any(|text| detail.contains(text)) {
        return None;
    }
    let (_, number) = detail.split_once("errno = ")?;
    let number = number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    match Error::from_raw_os_error(number).kind() {
        ErrorKind::WouldBlock | ErrorKind::PermissionDenied => Some(LockProblem::Held),
        _ => Some(LockProblem::NoLocks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn distinguishes_held_locks_from_unsupported_ones() {
        let text = |number: i32, message| {
            let what = "H5Fopen(): unable to open file: unable to lock file";
            format!("{what}, errno = {number}, error message = '{message}'")
        };
        let held = [text(11, "Resource temporarily unavailable"), text(13, "Permission denied")];
        assert!(held.iter().all(|text| lock_problem(text) == Some(LockProblem::Held)), "{held:?}");
        // NFS without its lock service, Lustre without flock, DVS, and a read-only mount.
        let none = [
            text(37, "No locks available"),
            text(524, "Unknown error 524"),
            text(30, "Read-only file system"),
            "H5Fopen(): file locking disabled on this file system (use HDF5_USE_FILE_LOCKING environment variable \
             to override), errno = 38, error message = 'Function not implemented'"
                .into(),
        ];
        assert!(none.iter().all(|text| lock_problem(text) == Some(LockProblem::NoLocks)), "{none:?}");
        assert_eq!(lock_problem("H5Fopen(): unable to open file: truncated file: eof = 96"), None);
    }
}
