//! A killed fit resumes to the same bits, and an unusable checkpoint is refused with the reason.

use std::fs;
use std::path::Path;

use crate::common::files::{assert_same_content, content};
use crate::common::jobs::Job;
use crate::common::{Ran, launcher, macrok, names, on, skipped};

/// A fit of twelve iterations, each of which adds a rule.
const FIT: &str = "fit --marginals data.h5 --labels data.h5 -k 2 --metric macro-gmean --init random --step classic \
                   --min-gain 0 --max-iters 12";

fn prepare(folder: &Path) {
    let synth = "synth data.h5 --instances 300 --labels 40 --nnz 12 --features 20";
    macrok(folder, &words(synth)).ok();
    macrok(folder, &words(&format!("{FIT} --out whole.h5"))).ok();
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn fit(count: usize, folder: &Path, options: &str) -> Ran {
    on(count, folder, &words(&format!("{FIT} {options}")), &[]).expect("a launcher")
}

/// Runs a fit that is killed at `fault`.
fn killed(count: usize, folder: &Path, options: &str, fault: &str) -> Ran {
    let args = format!("{FIT} {options}");
    // With MACROK_TEST_FLUSH every checkpoint is on disk before the next iteration.
    let variables = [("MACROK_TEST_FAULT", fault), ("MACROK_TEST_FLUSH", "1")];
    let ran = Job::start(count, folder, &words(&args), &variables).expect("a launcher").end();
    assert!(ran.status.is_some_and(|status| status > 1), "it was not killed:\n{ran}");
    ran
}

/// Returns numbers of ranks to try, more than one if there is a launcher.
fn counts() -> Vec<usize> {
    if launcher().is_some() { vec![1, 2, 3] } else { vec![1] }
}

/// Returns the iteration after which a resumed fit continued.
fn resumed_after(ran: &Ran) -> usize {
    let line = ran.stdout.lines().find_map(|line| line.strip_prefix("resuming after iteration "));
    line.unwrap_or_else(|| panic!("it did not resume:\n{ran}")).parse().unwrap()
}

#[test]
fn a_fit_killed_anywhere_resumes_to_the_same_bits_on_any_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let counts = counts();
    let last = counts[counts.len() - 1];
    // In a pass of the last rank, between two iterations, and during the write of a checkpoint.
    let places = [
        (format!("kill@pass#5:{}", last - 1), 4),
        ("kill@iteration#8:0".into(), 7),
        ("kill@save#3:0".into(), 1),
    ];
    for (at, (fault, steps)) in places.iter().enumerate() {
        killed(last, folder, "--out again.h5", fault);
        assert!(!folder.join("again.h5").exists());
        let ran = fit(counts[at % counts.len()], folder, "--out again.h5 --resume").ok();
        assert_eq!(resumed_after(&ran), *steps, "{fault}: {ran}");
        assert_same_content(&folder.join("whole.h5"), &folder.join("again.h5"));
        assert_eq!(names(folder), ["again.h5", "data.h5", "whole.h5"], "{fault}");
        fs::remove_file(folder.join("again.h5")).unwrap();
    }
}

#[test]
fn a_fit_that_is_killed_repeatedly_finishes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    // The iteration that ends the process is not done, so each run does three.
    for round in 0..3 {
        let ran = killed(1, folder, "--out again.h5 --resume", "kill@iteration#4:0");
        assert!(round == 0 || resumed_after(&ran) == 3 * round, "{ran}");
    }
    fit(1, folder, "--out again.h5 --resume").ok();
    assert_same_content(&folder.join("whole.h5"), &folder.join("again.h5"));
}

/// Leaves a fit that was killed after some iterations, with its checkpoint and the previous one.
fn interrupted(folder: &Path) {
    prepare(folder);
    killed(1, folder, "--out clf.h5", "kill@iteration#7:0");
    assert_eq!(
        names(folder),
        ["clf.h5.checkpoint", "clf.h5.checkpoint.previous", "data.h5", "whole.h5"].map(str::to_owned)
    );
}

#[test]
fn a_damaged_checkpoint_is_replaced_by_the_previous_one() {
    type Spoil = fn(Vec<u8>) -> Vec<u8>;
    let damages: [(&str, Spoil); 3] = [
        ("cut", |bytes| bytes[..bytes.len() / 2].to_vec()),
        ("one bit", |mut bytes| {
            bytes[100] ^= 4;
            bytes
        }),
        ("empty", |_| Vec::new()),
    ];
    for (what, spoil) in damages {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        interrupted(folder);
        let file = folder.join("clf.h5.checkpoint");
        fs::write(&file, spoil(fs::read(&file).unwrap())).unwrap();
        let ran = fit(1, folder, "--out clf.h5 --resume").ok();
        let warning = "macrok: warning: clf.h5.checkpoint: is damaged";
        assert_eq!(ran.stderr.matches(warning).count(), 1, "{what}: {ran}");
        assert_eq!(resumed_after(&ran), 5, "{what}: {ran}");
        assert_same_content(&folder.join("whole.h5"), &folder.join("clf.h5"));
        assert_eq!(names(folder), ["clf.h5", "data.h5", "whole.h5"], "{what}");
    }
}

/// Returns the fit with other options, which replace its own of the same name.
fn with(options: &str) -> String {
    let mut line = FIT.to_owned();
    for own in ["-k 2 ", "--metric macro-gmean ", "--init random "] {
        let name = &own[..own.find(' ').unwrap()];
        if options.split(' ').any(|word| word == name) {
            line = line.replace(own, "");
        }
    }
    format!("{line} {options}")
}

/// Checks that the fit is refused by one message that contains all of `says`, and that no file changes.
#[track_caller]
fn refused(folder: &Path, options: &str, says: &[&str]) {
    let before: Vec<(String, Vec<u8>)> =
        names(folder).into_iter().map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect();
    let ran = macrok(folder, &words(&with(options)));
    assert_eq!(ran.status, Some(2), "{ran}");
    assert_eq!(ran.errors().len(), 1, "{ran}");
    for part in says {
        assert!(ran.errors()[0].contains(part), "'{part}' is not in the message:\n{ran}");
    }
    let after: Vec<(String, Vec<u8>)> =
        names(folder).into_iter().map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect();
    assert!(before == after, "files were changed:\n{ran}");
}

#[test]
fn two_damaged_checkpoints_are_reported_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    interrupted(folder);
    for name in ["clf.h5.checkpoint", "clf.h5.checkpoint.previous"] {
        fs::write(folder.join(name), "").unwrap();
    }
    refused(
        folder,
        "--out clf.h5 --resume",
        &[
            "clf.h5.checkpoint: is damaged",
            "clf.h5.checkpoint.previous: is damaged",
            "to start from the beginning",
        ],
    );
}

#[test]
fn a_checkpoint_of_another_fit_is_refused_with_the_difference() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    interrupted(folder);
    let resume = "--out clf.h5 --resume";
    let by = "clf.h5.checkpoint: was made with";
    refused(
        folder,
        &format!("-k 3 {resume}"),
        &[by, "k = 2", "but this run has k = 3", "pass the same data and options"],
    );
    refused(
        folder,
        &format!("--metric coverage {resume}"),
        &[by, "metric = macro-gmean", "metric = coverage"],
    );
    refused(
        folder,
        &format!("--epsilon 1e-8 {resume}"),
        &[by, "epsilon = 0.000000001", "epsilon = 0.00000001"],
    );
    refused(folder, &format!("--candidates support {resume}"), &["candidates = all", "candidates = support"]);
    // Other rows in the same shape.
    let synth = "synth other.h5 --instances 300 --labels 40 --nnz 12 --features 20 --seed 1";
    macrok(folder, &words(synth)).ok();
    fs::rename(folder.join("other.h5"), folder.join("data.h5")).unwrap();
    refused(folder, resume, &[by, "checksum of rows = ", "but this run has checksum of positives = "]);
}

#[test]
fn a_checkpoint_is_not_replaced_by_accident() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    interrupted(folder);
    refused(folder, "--out clf.h5", &["clf.h5.checkpoint: an earlier run left this", "--resume", "--force"]);
    // The previous checkpoint alone is protected too.
    fs::remove_file(folder.join("clf.h5.checkpoint")).unwrap();
    refused(folder, "--out clf.h5", &["clf.h5.checkpoint: an earlier run left this"]);
    let ran = fit(1, folder, "--out clf.h5 --force").ok();
    assert!(!ran.stdout.contains("resuming after"), "{ran}");
    assert_same_content(&folder.join("whole.h5"), &folder.join("clf.h5"));
    assert_eq!(names(folder), ["clf.h5", "data.h5", "whole.h5"]);
}

#[test]
fn one_command_starts_resumes_and_recognises_a_finished_fit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let options = "--out clf.h5 --resume --json fit.json";
    let begun = killed(1, folder, options, "kill@iteration#5:0");
    assert!(
        begun.stdout.contains("no checkpoint clf.h5.checkpoint to resume from: starting from the"),
        "{begun}"
    );
    let ran = fit(1, folder, options).ok();
    let facts: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("fit.json")).unwrap()).unwrap();
    assert_eq!(facts["resumed_at"], resumed_after(&ran), "{facts:#}");
    assert_eq!(facts["iterations"], 12, "{facts:#}");
    assert_eq!(facts["passes"], 13, "{facts:#}");
    assert!(facts["seconds"]["checkpoint"].as_f64().is_some_and(|seconds| seconds > 0.0), "{facts:#}");
    for count in counts() {
        let done = fit(count, folder, options).ok();
        assert!(done.stdout.contains("clf.h5 is complete"), "{done}");
        assert!(!done.stdout.contains("iteration"), "it did it again:\n{done}");
    }
    assert_same_content(&folder.join("whole.h5"), &folder.join("clf.h5"));
    assert_eq!(names(folder), ["clf.h5", "data.h5", "fit.json", "whole.h5"]);
    refused(
        folder,
        "-k 3 --out clf.h5 --resume",
        &["clf.h5: the file exists, and was made with k = 2, but this run has k = 3", "--force"],
    );
    refused(folder, "--out clf.h5", &["clf.h5: the file exists; pass --force to replace it"]);
    // With --force another fit may replace it.
    macrok(folder, &words(&with("-k 3 --out clf.h5 --resume --force"))).ok();
    assert_ne!(content(&folder.join("whole.h5")), content(&folder.join("clf.h5")));
}

/// The process ended between writing the output and removing the checkpoint.
#[test]
fn the_next_run_removes_an_unneeded_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    interrupted(folder);
    fs::copy(folder.join("whole.h5"), folder.join("clf.h5")).unwrap();
    let done = fit(1, folder, "--out clf.h5 --resume").ok();
    assert!(done.stdout.contains("clf.h5 is complete"), "{done}");
    assert_eq!(names(folder), ["clf.h5", "data.h5", "whole.h5"]);
}

#[test]
fn options_decide_where_and_when_checkpoints_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    killed(1, folder, "--out clf.h5 --checkpoint-every 0", "kill@iteration#7:0");
    assert_eq!(names(folder), ["data.h5", "whole.h5"]);
    let options = "--out clf.h5 --checkpoint other.state --checkpoint-every 3 --resume";
    killed(1, folder, options, "kill@iteration#9:0");
    assert_eq!(names(folder), ["data.h5", "other.state", "other.state.previous", "whole.h5"]);
    let ran = fit(1, folder, options).ok();
    assert_eq!(resumed_after(&ran), 6, "{ran}");
    assert_same_content(&folder.join("whole.h5"), &folder.join("clf.h5"));
    assert_eq!(names(folder), ["clf.h5", "data.h5", "whole.h5"]);
    fs::remove_file(folder.join("clf.h5")).unwrap();
    refused(folder, "--out clf.h5 --checkpoint clf.h5", &["--checkpoint and --out are the same file"]);
    refused(folder, "--out clf.h5 --checkpoint data.h5 --force", &["data.h5: is an input"]);
    refused(folder, "--out clf.h5 --checkpoint no/where", &["no: no such folder to write into"]);
    refused(folder, "--out clf.h5 --checkpoint-every 0 --resume", &["--resume needs checkpoints"]);
    refused(folder, "--out clf.h5 --checkpoint-every 0 --time-limit 5", &["--time-limit needs checkpoints"]);
}

/// A full disk must not end the fit.
#[test]
fn a_fit_continues_without_checkpoints_when_the_disk_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let small = folder.join("small");
    fs::create_dir(&small).unwrap();
    // Mount namespaces end with their processes, so nothing has to be unmounted.
    let run = |variables: &[(&str, &str)], options: &str| {
        let mut command = crate::common::limited(60);
        let line = format!(
            "mount -t tmpfs -o size=4k none small || exit 99; exec {} {FIT} --checkpoint small/state {options}",
            crate::common::text(crate::common::program())
        );
        command
            .args(["unshare", "-m", "sh", "-c", &line])
            .current_dir(folder)
            .envs(variables.iter().copied());
        crate::common::run(command)
    };
    let ran = run(&[("MACROK_TEST_FLUSH", "1")], "--out clf.h5");
    if ran.status == Some(99) || ran.stderr.contains("unshare:") {
        return skipped("this user may not mount a small file system");
    }
    let warning = "macrok: warning: small/state: cannot be written (No space left on device";
    assert_eq!(ran.ok().stderr.matches(warning).count(), 1);
    assert_same_content(&folder.join("whole.h5"), &folder.join("clf.h5"));
}

#[test]
fn a_fit_with_an_initial_classifier_resumes_only_with_the_same_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    macrok(folder, &words(&with("--init whole.h5 --out a.h5"))).ok();
    let args = with("--init whole.h5 --out b.h5 --resume");
    let fault = [("MACROK_TEST_FAULT", "kill@iteration#4:0"), ("MACROK_TEST_FLUSH", "1")];
    Job::start(1, folder, &words(&args), &fault).unwrap().end();
    refused(folder, "--init a.h5 --out b.h5 --resume", &["init = a classifier of 12 rules, checksum "]);
    macrok(folder, &words(&args)).ok();
    assert_same_content(&folder.join("a.h5"), &folder.join("b.h5"));
}
