//! Files that another program has locked, and file systems without locks.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ran, macrok, macrok_with, missing, output, skipped, text};

const INSPECT: [&str; 2] = ["inspect", "data.h5"];

fn synth(folder: &Path) {
    macrok(folder, &["synth", "data.h5", "--instances", "30"]).ok();
}

#[test]
fn a_file_that_is_being_written_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    synth(folder.path());
    let file = File::open(folder.path().join("data.h5")).unwrap();
    file.lock().unwrap();
    let ran = macrok(folder.path(), &INSPECT);
    assert_eq!(ran.status, Some(2), "{ran}");
    assert!(ran.errors()[0].contains("data.h5: another program is writing the file; wait for it"), "{ran}");
    // Users may switch locks off.
    macrok_with(folder.path(), &INSPECT, &[("HDF5_USE_FILE_LOCKING", "FALSE")]).ok();
    file.unlock().unwrap();
    macrok(folder.path(), &INSPECT).ok();
}

/// Builds a library that makes every lock fail, as on NFS without a lock service; `None`, after a notice, if that is
/// impossible.
fn no_locks(folder: &Path) -> Option<PathBuf> {
    if cfg!(not(target_os = "linux")) {
        skipped("only Linux has LD_PRELOAD");
        return None;
    }
    let (source, library) = (folder.join("no_locks.c"), folder.join("no_locks.so"));
    let code = "#include <errno.h>\nint flock(int file, int how) { (void)file; (void)how; errno = ENOLCK; return -1; }\n";
    std::fs::write(&source, code).unwrap();
    let arguments = ["-shared", "-fPIC", "-o", text(&library), text(&source)];
    if !output(Command::new("cc").args(arguments)).is_ok_and(|made| made.status.success()) {
        missing("a C compiler, to simulate a file system without locks");
        return None;
    }
    Some(library)
}

#[test]
fn files_are_read_and_written_where_there_are_no_locks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some(library) = no_locks(folder) else { return };
    let run = |args: &[&str], locking: &[(&str, &str)]| -> Ran {
        macrok_with(folder, args, &[&[("LD_PRELOAD", text(&library))], locking].concat())
    };
    run(&["synth", "data.h5", "--instances", "30"], &[]).ok();
    run(&INSPECT, &[]).ok();
    run(&["fit", "--marginals", "data.h5", "-k", "2", "--out", "clf.h5"], &[]).ok();
    // With locks required the message names the remedy; that also shows that locks fail here.
    let ran = run(&INSPECT, &[("HDF5_USE_FILE_LOCKING", "TRUE")]);
    assert_eq!(ran.status, Some(2), "{ran}");
    let says =
        "data.h5: the file system has no locks, but HDF5 requires one; set HDF5_USE_FILE_LOCKING=FALSE";
    assert!(ran.errors()[0].contains(says), "{ran}");
}
