//! A run that is killed or stopped resumes with the same command, to the same results.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::experiments::{SMALL, result_files, run, states, to_do, write};
use crate::common::{Ran, limited, macrok_with, output, program, ranks_with, start};

/// Returns the small job with fits of many iterations.
fn long() -> String {
    SMALL.replace("max-iters = 6", "max-iters = 12\nstep = \"classic\"\nmin-gain = 0.0")
}

/// Returns the results of the long job without interruption.
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
fn a_killed_run_resumes() {
    let results = undisturbed();
    // Between two job steps, and during a fit. A background thread writes checkpoints, so how many exist when a fit is
    // killed depends on the disk.
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
        let begun = left.values().filter(|state| *state == "to resume from its checkpoint").count();
        assert!(begun <= usize::from(fault.contains("iteration")), "{fault}: {left:?}");
        assert!(left.len() < states(folder, "job.toml").len(), "{fault}: no step was kept");
        let again = run(folder, "job.toml", &[]).ok();
        assert_eq!(again.stdout.matches("resuming after iteration").count(), begun, "{fault}: {again}");
        assert_eq!(result_files(folder), results, "{fault}");
        assert!(checkpoints(folder).is_empty(), "{fault}");
    }
}

/// Starts the long job with slow iterations.
fn start_slowly(folder: &Path) -> Child {
    write(folder, "job.toml", &long());
    let mut command = limited(60);
    command.arg(program()).args(["run", "job.toml", "--out", "out"]).current_dir(folder);
    command.env("MACROK_TEST_FAULT", "sleep=30@iteration:0").stdout(Stdio::null()).stderr(Stdio::piped());
    start(&mut command).unwrap()
}

fn wait_for(what: &str, mut exists: impl FnMut() -> bool) {
    let start = Instant::now();
    while !exists() {
        assert!(start.elapsed() < Duration::from_secs(40), "timed out waiting for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_stopped_run_keeps_its_fit_and_names_the_command_to_resume() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let child = start_slowly(folder);
    wait_for("a checkpoint", || !checkpoints(folder).is_empty());
    // `timeout` forwards it.
    assert!(output(Command::new("kill").args(["-TERM", &child.id().to_string()])).unwrap().status.success());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    let last = said.lines().last().unwrap_or_default();
    assert!(last.starts_with("macrok: SIGTERM: stopped after iteration"), "{said}");
    assert!(last.ends_with("run job.toml --out out"), "{said}");
    assert_eq!(checkpoints(folder).len(), 1);
    let left = to_do(folder, "job.toml");
    assert!(left.values().any(|state| state == "to resume from its checkpoint"), "{left:?}");
    let again = run(folder, "job.toml", &[]).ok();
    assert!(again.stdout.contains("resuming after iteration"), "{again}");
    assert_eq!(result_files(folder), undisturbed());
}

#[test]
fn a_run_near_its_time_limit_stops_with_status_75() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", &long());
    let ran = stop_in_first_fit(folder);
    assert_eq!(ran.stderr.matches("macrok: the time is nearly up: stopped after").count(), 1, "{ran}");
    run(folder, "job.toml", &[]).ok();
    assert_eq!(result_files(folder), undisturbed());
}

/// Stops a job during its first fit.
fn stop_in_first_fit(folder: &Path) -> Ran {
    let args = ["run", "job.toml", "--out", "out", "--time-limit", "0:03"];
    let ran = macrok_with(folder, &args, &[("MACROK_TEST_FAULT", "sleep=500@iteration:0")]);
    assert_eq!(ran.status, Some(75), "{ran}");
    assert_eq!(checkpoints(folder).len(), 1, "{ran}");
    ran
}

#[test]
fn a_fit_with_other_options_does_not_resume() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", &long());
    stop_in_first_fit(folder);
    write(folder, "job.toml", &long().replace("max-iters = 12", "max-iters = 11"));
    let ran = run(folder, "job.toml", &[]).ok();
    assert!(!ran.stdout.contains("resuming after"), "{ran}");
    assert!(checkpoints(folder).is_empty());
}

#[test]
fn ranks_resume_a_run_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", &long());
    let args = ["run", "job.toml", "--out", "out"];
    stop_in_first_fit(folder);
    let fault = [("MACROK_TEST_FAULT", "panic@iteration#3:1")];
    let Some(failed) = ranks_with(2, folder, &args, &fault, 60) else { return };
    assert_eq!(failed.status, Some(1), "{failed}");
    assert!(failed.stdout.contains("resuming after iteration"), "{failed}");
    let ran = ranks_with(3, folder, &args, &[], 60).expect("a launcher").ok();
    assert!(ran.stdout.contains("resuming after iteration"), "{ran}");
    assert_eq!(result_files(folder), undisturbed());
}
