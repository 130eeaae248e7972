//! A signal or the time limit makes a fit save its state and name the command to resume it. Other commands end immediately
//! and leave no incomplete file.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::common::files::assert_same_content;
use crate::common::jobs::Job;
use crate::common::{Ran, launcher, limited, macrok, macrok_with, names, on, program, run, text};

/// A fit of about thirty iterations, which take three seconds when each of them sleeps.
const FIT: &str = "fit --marginals data.h5 --labels data.h5 -k 2 --metric macro-gmean --init random --step classic \
                   --min-gain 0 --max-iters 40";
const SLOW: (&str, &str) = ("MACROK_TEST_FAULT", "sleep=100@iteration:0");

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn prepare(folder: &Path) {
    macrok(folder, &words("synth data.h5 --instances 300 --labels 40 --nnz 12 --features 20")).ok();
    macrok(folder, &words(&format!("{FIT} --out whole.h5"))).ok();
}

/// Starts a fit and waits for its second iteration.
fn begun(count: usize, folder: &Path, options: &str, variables: &[(&str, &str)]) -> Option<Job> {
    let mut job = Job::start(count, folder, &words(&format!("{FIT} {options}")), variables)?;
    job.when_said("\n        2    0.");
    Some(job)
}

/// Checks that the fit stopped because of `reason` and resumes to the same bits.
#[track_caller]
fn assert_stopped_and_resumes(ran: &Ran, folder: &Path, reason: &str, count: usize) {
    assert_eq!(ran.status, Some(75), "{ran}");
    let said: Vec<&str> =
        ran.stderr.lines().filter(|line| line.contains("stopped after iteration")).collect();
    assert_eq!(said.len(), 1, "{ran}");
    assert!(said[0].starts_with(&format!("macrok: {reason}: stopped after iteration ")), "{ran}");
    assert!(said[0].contains("saved in clf.h5.checkpoint; to resume"), "{ran}");
    assert!(ran.errors().is_empty(), "{ran}");
    assert_eq!(names(folder).iter().filter(|name| name.starts_with('.')).count(), 0, "{:?}", names(folder));
    let (_, command) = said[0].split_once(": /").expect("a command to resume with");
    let mut words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words.remove(0), &text(program())[1..], "{ran}");
    assert_eq!(words.last(), Some(&"--resume"), "{ran}");
    let ran = on(count, folder, &words, &[]).expect("a launcher").ok();
    assert!(ran.stdout.contains("resuming after iteration"), "{ran}");
    assert_same_content(&folder.join("whole.h5"), &folder.join("clf.h5"));
    assert_eq!(names(folder), ["clf.h5", "data.h5", "whole.h5"]);
    fs::remove_file(folder.join("clf.h5")).unwrap();
}

#[test]
fn a_fit_stopped_by_any_signal_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    for signal in ["TERM", "INT", "USR1", "XCPU"] {
        let job = begun(1, folder, "--out clf.h5", &[SLOW]).unwrap();
        job.signal(0, signal);
        assert_stopped_and_resumes(&job.end(), folder, &format!("SIG{signal}"), 1);
    }
}

#[test]
fn a_signal_to_one_rank_stops_all() {
    if launcher().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    for (rank, signal, count, then) in [(2, "TERM", 3, 2), (0, "USR1", 2, 1), (1, "INT", 2, 3)] {
        let job = begun(count, folder, "--out clf.h5", &[SLOW]).unwrap();
        job.signal(rank, signal);
        assert_stopped_and_resumes(&job.end(), folder, &format!("SIG{signal}"), then);
    }
}

#[test]
fn a_signal_to_all_ranks_stops_them_once() {
    if launcher().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let job = begun(4, folder, "--out clf.h5", &[SLOW]).unwrap();
    job.signal_all("USR1");
    assert_stopped_and_resumes(&job.end(), folder, "SIGUSR1", 1);
}

/// The first signal waits for the end of an iteration, which never comes here.
#[test]
fn a_second_signal_ends_the_process_immediately() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let stuck = [("MACROK_TEST_FAULT", "hang@pass#4:0"), ("MACROK_TEST_FLUSH", "1")];
    let mut job = begun(1, folder, "--out clf.h5", &stuck).unwrap();
    job.when_said("a test made rank 0 hang at pass");
    job.signal(0, "TERM");
    job.when_said("SIGTERM: stopping at the next safe place; a second signal ends the run immediately");
    // A second signal right after the first counts as the same one.
    job.until_ended(|job| job.signal_all("INT"));
    let ran = job.end();
    assert_eq!(ran.status, Some(128 + 2), "{ran}");
    assert!(ran.took < Duration::from_secs(20), "{ran}");
    // The last checkpoint is still valid.
    macrok(folder, &words(&format!("{FIT} --out clf.h5 --resume"))).ok();
    assert_same_content(&folder.join("whole.h5"), &folder.join("clf.h5"));
}

#[test]
fn a_signal_during_loading_stops_before_the_first_iteration() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    for count in if launcher().is_some() { vec![1, 3] } else { vec![1] } {
        let fault = format!("sleep=700@load:{}", count - 1);
        let args = format!("{FIT} --out clf.h5 --resume");
        let mut job = Job::start(count, folder, &words(&args), &[("MACROK_TEST_FAULT", &fault)]).unwrap();
        job.when_said("per pass; needs");
        job.signal(count - 1, "TERM");
        let ran = job.end();
        assert_eq!(ran.status, Some(75), "{ran}");
        let says = "macrok: SIGTERM: stopped after loading, with nothing to resume yet; to resume";
        assert_eq!(ran.stderr.matches(says).count(), 1, "{ran}");
        assert!(!ran.stdout.contains("\niteration"), "{ran}");
        assert_eq!(names(folder), ["data.h5", "whole.h5"]);
    }
}

#[test]
fn a_fit_stops_before_its_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let limited = format!("{FIT} --out clf.h5 --time-limit 0:03");
    let ran = macrok_with(folder, &words(&limited), &[("MACROK_TEST_FAULT", "sleep=300@iteration:0")]);
    // All iterations take longer than that.
    assert!(ran.took < Duration::from_secs(8), "{ran}");
    let plain = ran.stderr.replace(" --time-limit 0:03", "");
    assert_stopped_and_resumes(&Ran { stderr: plain, ..ran }, folder, "the time is nearly up", 1);
}

#[test]
fn the_end_of_a_slurm_job_is_the_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let slow = ("MACROK_TEST_FAULT", "sleep=200@iteration:0");
    let job = ("SLURM_JOB_ID", "7");
    let args = format!("{FIT} --out clf.h5");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let end = (now + 5).to_string();
    let ran = macrok_with(folder, &words(&args), &[slow, job, ("SLURM_JOB_END_TIME", &end)]);
    assert_stopped_and_resumes(&ran, folder, "the time is nearly up", 1);
    // Older versions of Slurm do not set the variable, but squeue knows the time.
    let bin = tempfile::tempdir().unwrap();
    let squeue = bin.path().join("squeue");
    fs::write(&squeue, "#!/bin/sh\n[ \"$*\" = '-h -j 7 -o %L' ] && echo 0:05\n").unwrap();
    run({
        let mut command = limited(5);
        command.args(["chmod", "+x", text(&squeue)]);
        command
    })
    .ok();
    let path = format!("{}:{}", text(bin.path()), std::env::var("PATH").unwrap());
    let ran = macrok_with(folder, &words(&args), &[slow, job, ("PATH", &path)]);
    assert_stopped_and_resumes(&ran, folder, "the time is nearly up", 1);
    // The option takes precedence.
    let args = format!("{args} --time-limit 1:00:00");
    macrok_with(folder, &words(&args), &[job, ("SLURM_JOB_END_TIME", "1")]).ok();
}

#[test]
fn an_invalid_time_limit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ran = macrok(folder.path(), &words(&format!("{FIT} --out clf.h5 --time-limit 2h")));
    assert_eq!(ran.status, Some(2), "{ran}");
    assert!(ran.stderr.contains("invalid time limit '2h': expected HH:MM:SS"), "{ran}");
}

/// Scripts would restart it for ever if the exit status claimed that.
#[test]
fn a_fit_whose_checkpoints_fail_does_not_claim_to_be_resumable() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let faults = ("MACROK_TEST_FAULT", "sleep=50@iteration:0,fail@save:0");
    let mut job = begun(1, folder, "--out clf.h5", &[faults]).unwrap();
    job.when_said("macrok: warning: clf.h5.checkpoint: cannot be written");
    job.signal(0, "TERM");
    let ran = job.end();
    assert_eq!(ran.status, Some(1), "{ran}");
    assert!(ran.errors()[0].contains("SIGTERM: stopped after iteration"), "{ran}");
    assert!(ran.errors()[0].contains("nothing can be resumed: clf.h5.checkpoint: a test made"), "{ran}");
    assert!(!ran.stderr.contains("--resume"), "{ran}");
    assert_eq!(names(folder), ["data.h5", "whole.h5"]);
}

#[test]
fn a_fit_without_checkpoints_ends_at_the_first_signal() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let job = begun(1, folder, "--out clf.h5 --checkpoint-every 0", &[SLOW]).unwrap();
    job.signal(0, "TERM");
    let ran = job.end();
    assert_eq!(ran.status, Some(128 + 15), "{ran}");
    assert_eq!(names(folder), ["data.h5", "whole.h5"]);
}

#[test]
fn a_command_ended_while_it_writes_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for count in if launcher().is_some() { vec![1, 3] } else { vec![1] } {
        let last = count - 1;
        let fault = format!("hang@write:{last}");
        let mut job =
            Job::start(count, folder, &["synth", "new.h5"], &[("MACROK_TEST_FAULT", &fault)]).unwrap();
        job.when("a partial file", || names(folder).iter().any(|name| name.ends_with(".part")));
        job.signal(last, "TERM");
        let ran = job.end();
        assert!(ran.status.is_some_and(|status| status != 0 && status != 75), "{ran}");
        if count == 1 {
            assert_eq!(ran.status, Some(128 + 15), "{ran}");
        }
        assert!(names(folder).is_empty(), "{:?}", names(folder));
    }
}

#[test]
fn the_next_writer_removes_files_of_a_killed_process() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let fault = [("MACROK_TEST_FAULT", "kill@write:0")];
    let ran = Job::start(1, folder, &["synth", "new.h5"], &fault).unwrap().end();
    assert_eq!(ran.status, Some(128 + 9), "{ran}");
    assert_eq!(names(folder).len(), 1);
    macrok(folder, &["synth", "new.h5"]).ok();
    assert_eq!(names(folder), ["new.h5"]);
}

/// `nohup`, and scripts that start a program with `&`, ignore signals.
#[test]
fn signals_that_are_ignored_at_the_start_stay_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let mut command = limited(60);
    let line = format!("trap '' INT; exec {} {FIT} --out clf.h5", text(program()));
    command.args(["sh", "-c", &line]).current_dir(folder).env(SLOW.0, SLOW.1);
    let mut job = Job::spawn(command);
    job.when_said("\n        2    0.");
    job.signal(0, "INT");
    job.end().ok();
    assert_same_content(&folder.join("whole.h5"), &folder.join("clf.h5"));
}

/// As in `macrok ... | head -1`. A fit continues when its log is not read any more.
#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let fit = format!("{FIT} --out clf.h5");
    for args in
        ["--help", "fit --help", "fit --metric help", "inspect data.h5", "inspect data.h5 --json -", &fit]
    {
        let mut command = limited(30);
        let line = format!("{} {args} | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}", text(program()));
        command.args(["bash", "-c", &line]).current_dir(folder);
        let ran = run(command).ok();
        assert!(!ran.stderr.contains("macrok") && !ran.stderr.contains("anic"), "{ran}");
    }
    assert_same_content(&folder.join("whole.h5"), &folder.join("clf.h5"));
}
