//! Unfinished files of this process, removed when a signal, a panic or another rank ends it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a file that is about to be written.
pub fn register(path: PathBuf) {
    unfinished().insert(path);
}

/// Forgets a file that is finished, or that another rank finishes. Returns whether it was registered.
pub fn forget(path: &Path) -> bool {
    unfinished().remove(path)
}

/// Removes every registered file.
pub fn remove_temp_files() {
    for path in std::mem::take(&mut *unfinished()) {
        let _ = std::fs::remove_file(path);
    }
}
