//! A rank that runs out of memory or cannot read the data ends all ranks, in any phase, with one message and the right
//! status, and no incomplete file is left.
#![cfg(feature = "mpi")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::common::{
    Ran, launcher, limited, macrok, names, open_mpi_variables, program, ranks_with, run, text,
};

const FIT: [&str; 13] = [
    "fit",
    "--marginals",
    "data.h5",
    "--labels",
    "data.h5",
    "-k",
    "2",
    "--init",
    "random",
    "--step",
    "classic",
    "--out",
    "clf.h5",
];

fn prepare(folder: &Path) {
    macrok(folder, &["synth", "data.h5", "--instances", "300", "--labels", "40"]).ok();
}

/// Checks that all ranks ended soon, without waiting in vain, and with the status of a failure: neither that of bad input nor
/// that of a run that can be resumed. Launchers other than Open MPI's may mix in the signal by which they ended other ranks.
#[track_caller]
fn failed(ran: &Ran) {
    let plain = launcher().is_some_and(|launcher| launcher.is_open_mpi);
    let right = if plain { ran.status == Some(1) } else { !matches!(ran.status, None | Some(0 | 2 | 75)) };
    assert!(right && ran.took < Duration::from_secs(40), "{ran}");
}

#[test]
fn a_rank_without_memory_ends_all_in_every_phase() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    for place in ["start", "load", "pass#2", "iteration#2", "write"] {
        let fault = [("MACROK_TEST_FAULT", &*format!("memory@{place}:1"))];
        let Some(ran) = ranks_with(3, folder, &[&FIT[..], &["--force"]].concat(), &fault, 60) else { return };
        failed(&ran);
        assert_eq!(ran.stderr.matches("memory allocation of").count(), 1, "at {place}: {ran}");
        assert!(
            !ran.stderr.contains("received signal"),
            "the backtrace of mpirun hides the message: at {place}: {ran}"
        );
        assert!(!folder.join("clf.h5").exists(), "at {place}: {ran}");
    }
    // A process without memory cannot clean up, but the next one does.
    ranks_with(3, folder, &[&FIT[..], &["--resume"]].concat(), &[], 60).expect("a launcher").ok();
    assert_eq!(names(folder), ["clf.h5", "data.h5"]);
}

/// Rank 0 writes checkpoints in a separate thread.
#[test]
fn a_checkpoint_without_memory_ends_all() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let fault = [("MACROK_TEST_FAULT", "memory@save:0")];
    let Some(ran) = ranks_with(2, folder, &FIT, &fault, 60) else { return };
    failed(&ran);
    assert_eq!(ran.stderr.matches("memory allocation of").count(), 1, "{ran}");
}

/// Runs the fit on three ranks, the last of which runs the shell command `before` first.
fn with_a_last_rank(folder: &Path, before: &str) -> Option<Ran> {
    let launcher = launcher()?;
    let script = format!(
        "if [ \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" = 2 ]; then {before}; fi; exec {} \"$@\"",
        text(program())
    );
    let mut command = limited(60);
    command.arg(&launcher.path).args(["-n", "3", "sh", "-c", &script, "rank"]).args(FIT);
    command.current_dir(folder).envs(open_mpi_variables());
    Some(run(command))
}

/// The last rank reads another file, because it runs in another folder.
#[test]
fn a_rank_that_cannot_read_the_data_ends_all() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let other = folder.join("other");
    fs::create_dir(&other).unwrap();
    let whole = fs::read(folder.join("data.h5")).unwrap();
    let file = other.join("data.h5");
    // A missing file, an input/output error, and files that end in the header, in the row offsets or in the entries.
    let mut cases: Vec<(String, Box<dyn Fn()>)> = vec![
        ("none".into(), Box::new(|| ())),
        ("EIO".into(), Box::new(|| std::os::unix::fs::symlink("/proc/self/mem", &file).unwrap())),
    ];
    for part in [1, 10, 30, 50, 70, 90, 99] {
        let bytes = &whole[..whole.len() * part / 100];
        let file = &file;
        cases.push((format!("{part}%"), Box::new(move || fs::write(file, bytes).unwrap())));
    }
    for (case, make) in cases {
        let _ = fs::remove_file(&file);
        make();
        let Some(ran) = with_a_last_rank(folder, "cd other") else { return };
        assert!(matches!(ran.status, Some(1 | 2)), "{case}: {ran}");
        assert!(ran.took < Duration::from_secs(40), "{case}: {ran}");
        let [error] = ran.errors()[..] else { panic!("{case}: {ran}") };
        assert!(error.contains("data.h5"), "{case}: {ran}");
        assert_eq!(names(folder), ["data.h5", "other"], "{case}: {ran}");
    }
}

#[test]
fn too_small_a_ulimit_of_one_rank_ends_all_before_loading() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "data.h5", "--instances", "30000", "--labels", "2000", "--nnz", "400"]).ok();
    let Some(ran) = with_a_last_rank(folder, "ulimit -d 70000") else { return };
    assert_eq!(ran.status, Some(2), "{ran}");
    let [error] = ran.errors()[..] else { panic!("{ran}") };
    assert!(error.contains("error: rank 2 on node ") && error.contains("`ulimit -d` leaves only"), "{ran}");
    assert!(!ran.stdout.contains("iteration"), "{ran}");
    assert_eq!(names(folder), ["data.h5"], "{ran}");
}
