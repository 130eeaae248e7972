//! What befalls one rank ends all of them, in any phase of the work: no memory is left, or its node cannot read the data. One
//! message, the right status, and nothing half-written.
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

/// A failure of one rank is known to all at once, not only when they have waited for it in vain. It has the status of a
/// failure: neither that of bad input nor that of a run that can go on. Launchers other than Open MPI's may mix in the
/// signal by which they ended the others.
#[track_caller]
fn failed(ran: &Ran) {
    let plain = launcher().is_some_and(|launcher| launcher.is_open_mpi);
    let right = if plain { ran.status == Some(1) } else { !matches!(ran.status, None | Some(0 | 2 | 75)) };
    assert!(right && ran.took < Duration::from_secs(30), "{ran}");
}

#[test]
fn a_rank_that_is_given_no_memory_ends_all_in_every_phase() {
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
            "a page of addresses helps nobody: at {place}: {ran}"
        );
        assert!(!folder.join("clf.h5").exists(), "at {place}: {ran}");
    }
    // A process without memory cannot tidy up; the next one does.
    ranks_with(3, folder, &[&FIT[..], &["--resume"]].concat(), &[], 60).expect("a launcher").ok();
    assert_eq!(names(folder), ["clf.h5", "data.h5"]);
}

/// Rank 0 alone writes checkpoints, in a thread of its own. The fit may be done before that gets so far.
#[test]
fn no_memory_for_a_checkpoint_ends_all() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let fault = [("MACROK_TEST_FAULT", "memory@save:0")];
    let Some(ran) = ranks_with(2, folder, &FIT, &fault, 60) else { return };
    failed(&ran);
    assert_eq!(ran.stderr.matches("memory allocation of").count(), 1, "{ran}");
}

/// Runs the fit on three ranks, the last of which does what `differently` says first.
fn with_a_last_rank(folder: &Path, differently: &str) -> Option<Ran> {
    let launcher = launcher()?;
    let script = format!(
        "if [ \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" = 2 ]; then {differently}; fi; exec {} \"$@\"",
        text(program())
    );
    let mut command = limited(60);
    command.arg(&launcher.path).args(["-n", "3", "sh", "-c", &script, "rank"]).args(FIT);
    command.current_dir(folder).envs(open_mpi_variables());
    Some(run(command))
}

/// As on a node that has another file under that name: relative paths are looked for in a folder of its own.
#[test]
fn a_rank_that_cannot_read_the_data_ends_all_wherever_reading_fails() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let other = folder.join("other");
    fs::create_dir(&other).unwrap();
    let whole = fs::read(folder.join("data.h5")).unwrap();
    let file = other.join("data.h5");
    // Not there; an input/output error from the system; and a file that ends in its head, in what says where rows begin, or
    // in the entries of the last rows.
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
        assert!(ran.took < Duration::from_secs(30), "{case}: {ran}");
        let [error] = ran.errors()[..] else { panic!("{case}: {ran}") };
        assert!(error.contains("data.h5"), "{case}: {ran}");
        assert_eq!(names(folder), ["data.h5", "other"], "{case}: {ran}");
    }
}

/// `ulimit` of a shell, or of a batch system: it is known beforehand, and said before anything is loaded.
#[test]
fn a_rank_with_a_limit_on_its_memory_ends_all_before_loading() {
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
