//! A run that is killed, or asked to stop, loses nothing: the same command goes on to the same results.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::experiments::{SMALL, result_files, run, states, to_do, write};
use crate::common::{Ran, STARTING, limited, macrok_with, program, ranks_with};

/// The small job with fits that take many iterations.
fn long() -> String {
    SMALL.replace("max-iters = 6", "max-iters = 12\nstep = \"classic\"\nmin-gain = 0.0")
}

/// The results of the long job, undisturbed.
fn undisturbed() -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "job.toml", &long());
    run(folder.path(), "job.toml", &[]).ok();
    result_files(folder.path())
}

fn checkpoints(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder.join("out/classifiers")).into_iter().flatten().flatten();
    files.map(|file| file.path()).filter(|path| path.to_string_lossy().ends_with(".checkpoint")).collect()
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let results = undisturbed();
    // Between two steps, and in the middle of a fit. Checkpoints are written beside the work, so that how many there are
    // when a fit is killed depends on the disk.
    for fault in
        ["kill@step#4:0", "sleep=20@iteration:0,kill@save#2:0", "sleep=20@iteration:0,kill@iteration#20:0"]
    {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, "job.toml", &long());
        let args = ["run", "job.toml", "--out", "out"];
        let killed = macrok_with(folder, &args, &[("MACROK_TEST_FAULT", fault)]);
        assert_eq!(killed.status, None, "{fault}: {killed}");
        assert!(!folder.join("out/results.json").exists(), "{fault}");
        let left = to_do(folder, "job.toml");
        let begun = left.values().filter(|state| *state == "to go on from its checkpoint").count();
        assert!(begun <= usize::from(fault.contains("iteration")), "{fault}: {left:?}");
        assert!(left.len() < states(folder, "job.toml").len(), "{fault}: nothing was kept");
        let again = run(folder, "job.toml", &[]).ok();
        assert_eq!(again.stdout.matches("going on after iteration").count(), begun, "{fault}: {again}");
        assert_eq!(result_files(folder), results, "{fault}");
        assert!(checkpoints(folder).is_empty(), "{fault}");
    }
}

/// Starts the long job so that its iterations take a while.
fn start_slowly(folder: &Path) -> Child {
    write(folder, "job.toml", &long());
    let mut command = limited(60);
    command.arg(program()).args(["run", "job.toml", "--out", "out"]).current_dir(folder);
    command.env("MACROK_TEST_FAULT", "sleep=30@iteration:0").stdout(Stdio::null()).stderr(Stdio::piped());
    let _alone = STARTING.lock().unwrap();
    command.spawn().unwrap()
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let start = Instant::now();
    while !there() {
        assert!(start.elapsed() < Duration::from_secs(40), "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_run_that_is_asked_to_stop_keeps_its_fit_and_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let child = start_slowly(folder);
    wait_for("a checkpoint", || !checkpoints(folder).is_empty());
    // `timeout` hands it on.
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    let last = said.lines().last().unwrap_or_default();
    assert!(last.starts_with("macrok: SIGTERM: stopped after iteration"), "{said}");
    assert!(last.ends_with("run job.toml --out out"), "{said}");
    assert_eq!(checkpoints(folder).len(), 1);
    let left = to_do(folder, "job.toml");
    assert!(left.values().any(|state| state == "to go on from its checkpoint"), "{left:?}");
    let again = run(folder, "job.toml", &[]).ok();
    assert!(again.stdout.contains("going on after iteration"), "{again}");
    assert_eq!(result_files(folder), undisturbed());
}

#[test]
fn the_end_of_the_time_is_a_reason_to_stop_and_status_75_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", &long());
    let ran = stop_in_first_fit(folder);
    assert_eq!(ran.stderr.matches("macrok: the time is nearly up: stopped after").count(), 1, "{ran}");
    run(folder, "job.toml", &[]).ok();
    assert_eq!(result_files(folder), undisturbed());
}

/// Leaves a job in the middle of its first fit.
fn stop_in_first_fit(folder: &Path) -> Ran {
    let args = ["run", "job.toml", "--out", "out", "--time-limit", "0:03"];
    let ran = macrok_with(folder, &args, &[("MACROK_TEST_FAULT", "sleep=500@iteration:0")]);
    assert_eq!(ran.status, Some(75), "{ran}");
    assert_eq!(checkpoints(folder).len(), 1, "{ran}");
    ran
}

/// What a run was stopped at is of no use to a job that asks for something else.
#[test]
fn a_checkpoint_of_other_options_is_not_gone_on_from() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", &long());
    stop_in_first_fit(folder);
    write(folder, "job.toml", &long().replace("max-iters = 12", "max-iters = 11"));
    let ran = run(folder, "job.toml", &[]).ok();
    assert!(!ran.stdout.contains("going on"), "{ran}");
    assert!(checkpoints(folder).is_empty());
}

#[test]
fn ranks_go_on_with_what_one_process_began() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", &long());
    let args = ["run", "job.toml", "--out", "out"];
    stop_in_first_fit(folder);
    let fault = [("MACROK_TEST_FAULT", "panic@iteration#3:1")];
    let Some(failed) = ranks_with(2, folder, &args, &fault, 60) else { return };
    assert_eq!(failed.status, Some(1), "{failed}");
    assert!(failed.stdout.contains("going on after iteration"), "{failed}");
    let ran = ranks_with(3, folder, &args, &[], 60).expect("a launcher").ok();
    assert!(ran.stdout.contains("going on after iteration"), "{ran}");
    assert_eq!(result_files(folder), undisturbed());
}
