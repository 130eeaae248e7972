//! The locks HDF5 puts on files, and where to do without.
//!
//! HDF5 locks every file it opens, so that nobody reads what somebody else is writing. On file systems with a
//! server that lock may be refused, or waited for without end when the server's lock service is gone, and
//! thousands of ranks that ask for one at once are a burden. So files there are read without. Our own files appear
//! whole, by being renamed, and need no lock. `HDF5_USE_FILE_LOCKING` decides where it is set: HDF5 lets it
//! overrule what a program asks for.

use std::io::{Error, ErrorKind};
use std::path::Path;

use hdf5::file::FileAccessBuilder;

use crate::machine::{FileSystem, FileSystemKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockMode {
    /// As HDF5 does it: shared ones for readers.
    Usual,
    Unlocked,
}

impl LockMode {
    /// For a file that somebody else may be writing.
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

    /// Where this HDF5 is too old to be told (before 1.10.7, and 1.12.0), the variable alone decides.
    pub fn set(self, access: &mut FileAccessBuilder) -> &mut FileAccessBuilder {
        #[cfg(hdf5_file_locking)]
        if self == LockMode::Unlocked {
            access.file_locking(false);
        }
        access
    }
}

/// Whether [`LockMode::Unlocked`] has any effect with the HDF5 this was built with.
pub fn reads_without_locks() -> bool {
    cfg!(hdf5_file_locking)
}

/// Why a lock could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockProblem {
    /// Somebody else has it.
    Held,
    /// There are none on this file system, or its lock service does not work.
    NoLocks,
    /// The file is open already, with locks where now there should be none, or the other way round.
    OpenWithOtherMode,
}

/// What an error of HDF5 says about locks, if it is about them.
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
    fn a_lock_that_is_held_is_told_from_one_that_cannot_be() {
        let text = |number: i32, message| {
            let what = "H5Fopen(): unable to open file: unable to lock file";
            format!("{what}, errno = {number}, error message = '{message}'")
        };
        let held = [text(11, "Resource temporarily unavailable"), text(13, "Permission denied")];
        assert!(held.iter().all(|text| lock_problem(text) == Some(LockProblem::Held)), "{held:?}");
        // NFS without its lock service, Lustre without flock, DVS, a read-only mount.
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
