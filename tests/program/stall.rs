//! A job ends when all its ranks wait for one that hangs, but not while any rank works.
#![cfg(feature = "mpi")]

use std::time::{Duration, Instant};

use crate::common::jobs::Job;
use crate::common::{macrok, ranks_with};

const FIT: [&str; 8] = ["fit", "--marginals", "data.h5", "--labels", "data.h5", "-k", "3", "--stall-timeout"];

#[test]
fn ranks_that_wait_for_one_that_hangs_end_the_job_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    macrok(folder.path(), &["synth", "data.h5"]).ok();
    let hang = [("MACROK_TEST_FAULT", "hang@pass#2:1")];
    let args = [&FIT[..], &["2", "--out", "clf.h5"]].concat();
    let Some(ran) = ranks_with(3, folder.path(), &args, &hang, 60) else { return };
    assert_eq!(ran.status, Some(1), "{ran}");
    let [error] = ran.errors()[..] else { panic!("{ran}") };
    let waited =
        error.split_once("has waited ").and_then(|(_, rest)| rest.split_once(" s for the other ranks"));
    assert!(
        waited.is_some_and(|(seconds, _)| seconds.parse().is_ok_and(|seconds: u32| seconds >= 2)),
        "{ran}"
    );
    assert!(error.contains("--stall-timeout 2"), "{ran}");
    assert!(ran.took < Duration::from_secs(40), "{ran}");
    let left: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("alive"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn ranks_that_wait_for_less_than_the_timeout_continue() {
    let folder = tempfile::tempdir().unwrap();
    macrok(folder.path(), &["synth", "data.h5"]).ok();
    // Together the passes take longer than the timeout.
    let slow = [("MACROK_TEST_FAULT", "sleep=1500@pass:1")];
    let args =
        [&FIT[..], &["4", "--out", "clf.h5", "--max-iters", "8", "--min-gain", "0", "--tolerance", "0"]]
            .concat();
    let Some(ran) = ranks_with(2, folder.path(), &args, &slow, 60) else { return };
    assert!(ran.took > Duration::from_secs(4), "the test needs longer fits: {ran}");
    ran.ok();
}

/// `MPI_Finalize` of MPICH sometimes hangs under srun.
#[test]
fn ranks_leave_a_finished_job_even_if_mpi_hangs() {
    let folder = tempfile::tempdir().unwrap();
    macrok(folder.path(), &["synth", "data.h5"]).ok();
    let hang = [("MACROK_TEST_FAULT", "hang@leave:1")];
    let args = [&FIT[..], &["2", "--out", "clf.h5"]].concat();
    let Some(mut job) = Job::start(3, folder.path(), &args, &hang) else { return };
    job.when_said("wrote clf.h5");
    // Only the ranks count: the mpirun of Open MPI sometimes waits for ever for ranks that left without MPI_Finalize.
    let start = Instant::now();
    while !job.processes().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(50), "{:?} are left", job.processes());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(folder.path().join("clf.h5").exists() && !folder.path().join("clf.h5.checkpoint").exists());
}

#[test]
fn a_negative_timeout_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ran = macrok(folder.path(), &["synth", "data.h5", "--stall-timeout=-1"]);
    assert_eq!(ran.status, Some(2), "{ran}");
    assert!(ran.stderr.contains("--stall-timeout is -1, but must be a number from 0 to 1000000000"), "{ran}");
}
