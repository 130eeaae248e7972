//! A fit that was killed goes on to the same bits (DESIGN, promise 3), and what it cannot go on from is refused with the
//! reason.

use std::fs;
use std::path::Path;

use crate::common::files::{assert_same_content, content};
use crate::common::jobs::Job;
use crate::common::{Ran, launcher, macrok, names, on, skipped};

/// Twelve steps, and as many rules.
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

/// Runs a fit that is killed where `fault` says.
fn killed(count: usize, folder: &Path, options: &str, fault: &str) -> Ran {
    let args = format!("{FIT} {options}");
    // Every checkpoint is on disk before the next iteration, so that it is known what there is.
    let variables = [("MACROK_TEST_FAULT", fault), ("MACROK_TEST_FLUSH", "1")];
    let ran = Job::start(count, folder, &words(&args), &variables).expect("a launcher").end();
    assert!(ran.status.is_some_and(|status| status > 1), "it was not killed:\n{ran}");
    ran
}

/// Numbers of ranks to try; more than one where there is a launcher.
fn counts() -> Vec<usize> {
    if cfg!(feature = "mpi") && launcher().is_some() { vec![1, 2, 3] } else { vec![1] }
}

/// The number of the iteration that a resumed fit went on after.
fn went_on_after(ran: &Ran) -> usize {
    let line = ran.stdout.lines().find_map(|line| line.strip_prefix("going on after iteration "));
    line.unwrap_or_else(|| panic!("it did not go on:\n{ran}")).parse().unwrap()
}

#[test]
fn a_fit_that_is_killed_anywhere_goes_on_to_the_same_bits_on_any_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let counts = counts();
    let last = counts[counts.len() - 1];
    // In a pass of the last rank, between two iterations, and while a checkpoint is being written.
    let places = [
        (format!("kill@pass#5:{}", last - 1), 4),
        ("kill@iteration#8:0".into(), 7),
        ("kill@save#3:0".into(), 1),
    ];
    for (at, (fault, steps)) in places.iter().enumerate() {
        killed(last, folder, "--out again.h5", fault);
        assert!(!folder.join("again.h5").exists());
        let ran = fit(counts[at % counts.len()], folder, "--out again.h5 --resume").ok();
        assert_eq!(went_on_after(&ran), *steps, "{fault}: {ran}");
        assert_same_content(&folder.join("whole.h5"), &folder.join("again.h5"));
        assert_eq!(names(folder), ["again.h5", "data.h5", "whole.h5"], "{fault}");
        fs::remove_file(folder.join("again.h5")).unwrap();
    }
}

#[test]
fn a_fit_that_is_killed_again_and_again_arrives() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    // The one that ends the process is never done, so each run comes three further.
    for round in 0..3 {
        let ran = killed(1, folder, "--out again.h5 --resume", "kill@iteration#4:0");
        assert!(round == 0 || went_on_after(&ran) == 3 * round, "{ran}");
    }
    fit(1, folder, "--out again.h5 --resume").ok();
    assert_same_content(&folder.join("whole.h5"), &folder.join("again.h5"));
}

/// A fit that has been killed after some steps, with a checkpoint and the one before.
fn interrupted(folder: &Path) {
    prepare(folder);
    killed(1, folder, "--out clf.h5", "kill@iteration#7:0");
    assert_eq!(
        names(folder),
        ["clf.h5.checkpoint", "clf.h5.checkpoint.previous", "data.h5", "whole.h5"].map(str::to_owned)
    );
}

#[test]
fn a_damaged_checkpoint_gives_way_to_the_one_before() {
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
        assert_eq!(went_on_after(&ran), 5, "{what}: {ran}");
        assert_same_content(&folder.join("whole.h5"), &folder.join("clf.h5"));
        assert_eq!(names(folder), ["clf.h5", "data.h5", "whole.h5"], "{what}");
    }
}

/// The fit with other options, some perhaps in place of its own.
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

/// The run must have been refused by one message with all of `says`, and with nothing changed.
#[track_caller]
fn refused(folder: &Path, options: &str, says: &[&str]) {
    let before: Vec<(String, Vec<u8>)> =
        names(folder).into_iter().map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect();
    let ran = macrok(folder, &words(&with(options)));
    assert_eq!(ran.status, Some(2), "{ran}");
    assert_eq!(ran.errors().len(), 1, "{ran}");
    for part in says {
        assert!(ran.errors()[0].contains(part), "'{part}' is not said:\n{ran}");
    }
    let after: Vec<(String, Vec<u8>)> =
        names(folder).into_iter().map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect();
    assert!(before == after, "files were changed:\n{ran}");
}

#[test]
fn when_nothing_whole_is_left_that_is_said_with_the_remedy() {
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
fn what_another_fit_left_is_refused_with_the_difference() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    interrupted(folder);
    let resume = "--out clf.h5 --resume";
    let by = "clf.h5.checkpoint: was made with";
    refused(
        folder,
        &format!("-k 3 {resume}"),
        &[by, "k = 2", "but this run has k = 3", "give the same data and options"],
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
    // The same shape, other rows.
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
    // Not even one of which only the generation before is left.
    fs::remove_file(folder.join("clf.h5.checkpoint")).unwrap();
    refused(folder, "--out clf.h5", &["clf.h5.checkpoint: an earlier run left this"]);
    let ran = fit(1, folder, "--out clf.h5 --force").ok();
    assert!(!ran.stdout.contains("going on"), "{ran}");
    assert_same_content(&folder.join("whole.h5"), &folder.join("clf.h5"));
    assert_eq!(names(folder), ["clf.h5", "data.h5", "whole.h5"]);
}

#[test]
fn one_command_begins_goes_on_and_sees_that_it_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let options = "--out clf.h5 --resume --json fit.json";
    let begun = killed(1, folder, options, "kill@iteration#5:0");
    assert!(
        begun.stdout.contains("no checkpoint clf.h5.checkpoint to go on from: starting from the"),
        "{begun}"
    );
    let ran = fit(1, folder, options).ok();
    let facts: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("fit.json")).unwrap()).unwrap();
    assert_eq!(facts["resumed_at"], went_on_after(&ran), "{facts:#}");
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
    // With --force something else may take its place.
    macrok(folder, &words(&with("-k 3 --out clf.h5 --resume --force"))).ok();
    assert_ne!(content(&folder.join("whole.h5")), content(&folder.join("clf.h5")));
}

/// The output was written, but the process ended before it had removed its checkpoint.
#[test]
fn a_checkpoint_that_is_needed_no_more_goes_with_the_next_look() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    interrupted(folder);
    fs::copy(folder.join("whole.h5"), folder.join("clf.h5")).unwrap();
    let done = fit(1, folder, "--out clf.h5 --resume").ok();
    assert!(done.stdout.contains("clf.h5 is complete"), "{done}");
    assert_eq!(names(folder), ["clf.h5", "data.h5", "whole.h5"]);
}

#[test]
fn checkpoints_go_where_and_when_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    killed(1, folder, "--out clf.h5 --checkpoint-every 0", "kill@iteration#7:0");
    assert_eq!(names(folder), ["data.h5", "whole.h5"]);
    let options = "--out clf.h5 --checkpoint other.state --checkpoint-every 3 --resume";
    killed(1, folder, options, "kill@iteration#9:0");
    assert_eq!(names(folder), ["data.h5", "other.state", "other.state.previous", "whole.h5"]);
    let ran = fit(1, folder, options).ok();
    assert_eq!(went_on_after(&ran), 6, "{ran}");
    assert_same_content(&folder.join("whole.h5"), &folder.join("clf.h5"));
    assert_eq!(names(folder), ["clf.h5", "data.h5", "whole.h5"]);
    fs::remove_file(folder.join("clf.h5")).unwrap();
    refused(folder, "--out clf.h5 --checkpoint clf.h5", &["--checkpoint and --out are the same file"]);
    refused(folder, "--out clf.h5 --checkpoint data.h5 --force", &["data.h5: is an input"]);
    refused(folder, "--out clf.h5 --checkpoint no/where", &["no: no such folder to write into"]);
    refused(folder, "--out clf.h5 --checkpoint-every 0 --resume", &["--resume needs checkpoints"]);
    refused(folder, "--out clf.h5 --checkpoint-every 0 --time-limit 5", &["--time-limit needs checkpoints"]);
}

/// A disk that is full is no reason to lose the fit; but then nobody is told that it can be resumed.
#[test]
fn a_fit_goes_on_without_checkpoints_when_the_disk_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let small = folder.join("small");
    fs::create_dir(&small).unwrap();
    // A file system of its own, gone with the process that sees it.
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
fn a_resumed_fit_with_a_given_start_is_that_of_the_same_start() {
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
