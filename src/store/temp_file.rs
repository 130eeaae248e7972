//! Files under construction: under a temporary name next to their destination, and removed unless they are finished.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::atomic_write::{parent_folder, sync_folder};
use super::error::{Result, StoreError};
use crate::cleanup;
use crate::host::host_name;

/// The temporary name of a file. Dropping it removes the file.
pub(super) struct TempFile {
    path: PathBuf,
}

impl TempFile {
    /// Returns a name in the folder of `path` that is unique and identifies the writing process.
    pub fn next_to(path: &Path) -> TempFile {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let (process, number) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        TempFile::registered(
            parent_folder(path).join(format!("{}{process}-{number}{SUFFIX}", name_prefix(path))),
        )
    }

    /// Returns a name that another rank has chosen.
    pub fn registered(path: PathBuf) -> TempFile {
        cleanup::register(path.clone());
        TempFile { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the finished file to `path`, durably.
    pub fn publish(self, path: &Path) -> Result<()> {
        let io = |source| StoreError::Io { file: path.into(), action: "write it", source };
        File::open(&self.path).and_then(|file| file.sync_all()).map_err(io)?;
        std::fs::rename(&self.path, path).map_err(io)?;
        sync_folder(path).map_err(io)
    }

    /// Leaves the file to another rank.
    pub fn hand_over(self) {
        cleanup::forget(&self.path);
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if cleanup::forget(&self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

const SUFFIX: &str = ".part";

/// Returns the name of this host with only characters that file names can hold.
fn host_in_file_name() -> String {
    host_name(Path::new("/")).chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Returns the start of the temporary names for `path` on this host; the numbers of the process and the file follow.
fn name_prefix(path: &Path) -> String {
    format!(".{}.{}-", path.file_name().unwrap_or_default().to_string_lossy(), host_in_file_name())
}

/// Removes temporary files for `path` whose process has ended. Files of other hosts stay, as their processes cannot be
/// checked.
pub(super) fn remove_stale(path: &Path) {
    let start = name_prefix(path);
    for entry in std::fs::read_dir(parent_folder(path)).into_iter().flatten().flatten() {
        if writer_process(&entry.file_name(), &start).is_some_and(|process| !is_running(process)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Returns the process that writes, or wrote, a temporary file whose name starts with `start`.
fn writer_process(name: &OsStr, start: &str) -> Option<u32> {
    let (process, number) = name.to_str()?.strip_prefix(start)?.strip_suffix(SUFFIX)?.split_once('-')?;
    number.parse::<usize>().ok()?;
    process.parse().ok()
}

/// Whether a process runs, or may run if the system does not tell. Zombies, which containers can keep for long, do not.
fn is_running(process: u32) -> bool {
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return true;
    }
    let status = std::fs::read_to_string(processes.join(process.to_string()).join("stat"));
    // The state follows the name, which is in parentheses and may contain some.
    let state = status.ok().and_then(|status| status.rsplit_once(") ")?.1.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn unfinished_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let temp_file = TempFile::next_to(&folder.path().join("a.h5"));
        std::fs::write(temp_file.path(), "half").unwrap();
        drop(temp_file);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn published_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.h5");
        let temp_file = TempFile::next_to(&path);
        std::fs::write(temp_file.path(), "whole").unwrap();
        temp_file.publish(&path).unwrap();
        assert_eq!(names(folder.path()), ["a.h5"]);
    }

    #[test]
    fn zombies_are_not_running() {
        assert!(is_running(std::process::id()));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let stat = format!("/proc/{}/stat", child.id());
        while !std::fs::read_to_string(&stat).unwrap().contains(") Z") {
            std::thread::yield_now();
        }
        assert!(!is_running(child.id()));
        child.wait().unwrap();
    }

    #[test]
    fn removes_only_files_of_ended_processes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.h5");
        // Process numbers are far smaller.
        let dead = u32::MAX;
        let alive = std::process::id();
        let stale = format!("{}{dead}-0{SUFFIX}", name_prefix(&path));
        let kept = [
            format!("{}{alive}-0{SUFFIX}", name_prefix(&path)),
            format!(".a.h5.elsewhere-{dead}-0{SUFFIX}"),
            format!(".b.h5.{}-{dead}-0{SUFFIX}", host_in_file_name()),
            "a.h5".to_owned(),
        ];
        for name in kept.iter().chain([&stale]) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        remove_stale(&path);
        let mut left = names(folder.path());
        left.sort();
        let mut kept = kept.to_vec();
        kept.sort();
        assert_eq!(left, kept);
    }
}
