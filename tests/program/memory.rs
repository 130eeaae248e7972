//! A job that needs too much memory is refused before it loads anything, by one message that names the node, the amount and
//! the remedy. The plan is shown before the work starts.

use std::path::Path;

use crate::common::files::{Parts, create};
use crate::common::{Ran, launcher, macrok, macrok_with, ranks_with};

/// Returns numbers of ranks to try, more than one if there is a launcher.
fn counts() -> Vec<usize> {
    if launcher().is_some() { vec![1, 3] } else { vec![1] }
}

/// Runs a command on `count` ranks of one thread, on a node that pretends to have `available` bytes of memory, if given.
fn run(count: usize, folder: &Path, command: &str, available: Option<u64>) -> Ran {
    let args: Vec<&str> = command.split(' ').chain(["--threads", "1"]).collect();
    let available = available.map(|bytes| bytes.to_string());
    let variables: Vec<(&str, &str)> =
        available.iter().map(|bytes| ("MACROK_TEST_MEMORY", bytes.as_str())).collect();
    match count {
        1 => macrok_with(folder, &args, &variables),
        _ => ranks_with(count, folder, &args, &variables, 60).expect("a launcher"),
    }
}

const FIT: &str = "fit --marginals d.h5 --labels d.h5 -k 3 --out new.h5 --json new.json";

/// Commands that load marginals.
const COMMANDS: [&str; 4] = [
    FIT,
    "fit --marginals d.h5 -k 3 --out new.h5",
    "predict c.h5 --marginals d.h5 --out new.h5 --json new.json",
    "evaluate c.h5 --marginals d.h5 --labels d.h5 --json new.json",
];

/// Makes `d.h5`, and `c.h5` fitted on it.
fn prepare(folder: &Path) {
    macrok(folder, &["synth", "d.h5", "--instances", "300"]).ok();
    macrok(folder, &["baseline", "top-k", "--labels", "d.h5", "-k", "3", "--out", "c.h5"]).ok();
}

/// Makes `d.h5` of nine rows and three labels, the last row of which cannot be loaded, so that a complaint about it shows
/// that loading has begun; and classifiers for its labels (`c.h5`) and for other labels (`other.h5`).
fn prepare_unloadable(folder: &Path) {
    let good: &[(i64, f64)] = &[(0, 0.5), (1, 0.25)];
    let bad: &[(i64, f64)] = &[(0, 0.5), (1, 1.5)];
    let rows: Vec<&[(i64, f64)]> = (0..9).map(|row| if row == 8 { bad } else { good }).collect();
    let truth: Vec<&[(i64, f64)]> = vec![&[(0, 1.0)]; 9];
    create(&folder.join("d.h5"), |file| {
        Parts::new(3, &rows).write(file, "marginals");
        Parts::new(3, &truth).write(file, "labels");
    });
    macrok(folder, &["baseline", "top-k", "--labels", "d.h5", "-k", "3", "--out", "c.h5"]).ok();
    create(&folder.join("four.h5"), |file| Parts::new(4, &truth).write(file, "labels"));
    macrok(folder, &["baseline", "top-k", "--labels", "four.h5", "-k", "2", "--out", "other.h5"]).ok();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Checks that the run was refused by one message, without files or work, and returns the message.
#[track_caller]
fn refused(ran: &Ran, before: &[String], folder: &Path) -> String {
    assert_eq!(ran.status, Some(2), "{ran}");
    assert_eq!(ran.errors().len(), 1, "{ran}");
    assert!(!ran.stdout.contains("iteration"), "it worked before it failed:\n{ran}");
    assert_eq!(names(folder), before, "{ran}");
    ran.errors()[0].to_owned()
}

#[test]
fn too_little_memory_is_refused_with_node_amount_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let before = names(folder);
    let node = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    for count in counts() {
        for command in COMMANDS {
            let ran = run(count, folder, command, Some(1 << 20));
            let message = refused(&ran, &before, folder);
            assert!(message.contains(&format!("node {}: ", node.trim())), "{ran}");
            let ranks = if count == 1 { "1 rank".into() } else { format!("{count} ranks") };
            assert!(message.contains(&format!(" MiB of memory needed for {ranks}")), "{ran}");
            assert!(message.contains("only 1.0 MiB of 1.0 MiB is free"), "{ran}");
            assert!(message.contains("use more nodes, or nodes with more memory"), "{ran}");
        }
    }
}

#[test]
fn the_planned_memory_decides_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    for count in counts() {
        let planned = run(count, folder, FIT, None).ok();
        let facts = std::fs::read_to_string(folder.join("new.json")).unwrap();
        let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
        let need = facts["memory_needed_bytes"].as_u64().unwrap();
        for name in ["new.h5", "new.json"] {
            std::fs::remove_file(folder.join(name)).unwrap();
        }

        let before = names(folder);
        let message = refused(&run(count, folder, FIT, Some(need - 1)), &before, folder);
        let words = message.split(" of memory needed").next().unwrap();
        let amount = words.split(": ").last().unwrap();
        let shown = format!("needs {amount} of memory, ");
        assert!(planned.stdout.contains(&shown), "the plan says otherwise than:\n{message}\n{planned}");

        let fits = run(count, folder, FIT, Some(need)).ok();
        assert!(fits.stdout.contains(&format!("{shown}0 B to spare")), "{fits}");
        for name in ["new.h5", "new.json"] {
            std::fs::remove_file(folder.join(name)).unwrap();
        }
    }
}

#[test]
fn more_ranks_need_more_memory_in_total() {
    let needed = |count| {
        let folder = tempfile::tempdir().unwrap();
        prepare(folder.path());
        run(count, folder.path(), FIT, None).ok();
        let facts = std::fs::read_to_string(folder.path().join("new.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&facts).unwrap()["memory_needed_bytes"].as_u64().unwrap()
    };
    let needs: Vec<u64> = counts().into_iter().map(needed).collect();
    assert!(needs[0] > 0 && needs.is_sorted_by(|few, many| few < many), "{needs:?}");
}

#[test]
fn memory_is_checked_before_any_value() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare_unloadable(folder);
    let before = names(folder);
    for count in counts() {
        for command in COMMANDS {
            let enough = refused(&run(count, folder, command, None), &before, folder);
            assert!(enough.contains("row 8, column 1 is 1.5"), "{enough}");
            let little = refused(&run(count, folder, command, Some(1)), &before, folder);
            assert!(little.contains("of memory needed"), "{little}");
        }
    }
}

#[test]
fn the_plan_is_shown_once_and_before_loading() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare_unloadable(folder);
    for count in counts() {
        let ran = run(count, folder, FIT, None);
        assert_eq!(ran.status, Some(2), "{ran}");
        let plan: Vec<&str> = ran.stdout.lines().filter(|line| line.contains(" kernel)")).collect();
        let &[plan] = &plan[..] else { panic!("one plan, by one rank:\n{ran}") };
        let ranks = if count == 1 { "1 rank".into() } else { format!("{count} ranks") };
        assert!(plan.starts_with(&format!("{ranks} x 1 thread (")), "{ran}");
        assert!(["scalar", "AVX2", "AVX-512"].iter().any(|name| plan.contains(name)), "{ran}");
        assert!(plan.contains(" per pass; needs ") && plan.contains(" of memory"), "{ran}");
        assert!(ran.stdout.contains("d.h5:marginals: 9 instances x 3 labels, 18 stored; k = 3"), "{ran}");
    }
}

#[test]
fn impossible_commands_are_refused_before_loading() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare_unloadable(folder);
    let before = names(folder);
    for count in counts() {
        for (command, says) in [
            ("fit --marginals d.h5 -k 4 --out new.h5", "-k is 4, but d.h5:marginals has only 3 labels"),
            (
                "fit --marginals d.h5 -k 2 --init other.h5 --out new.h5",
                "--init other.h5 is for 4 labels, but the data have 3",
            ),
            (
                "predict other.h5 --marginals d.h5 --out new.h5",
                "other.h5 is for 4 labels, but d.h5:marginals has 3",
            ),
            (
                "evaluate other.h5 --marginals d.h5 --labels d.h5 --json new.json",
                "other.h5 is for 4 labels, but d.h5:marginals has 3",
            ),
        ] {
            let ran = run(count, folder, command, None);
            let message = refused(&ran, &before, folder);
            assert!(message.contains(says), "{ran}");
            assert!(!ran.stdout.contains("kernel"), "an impossible command has no plan:\n{ran}");
        }
    }
}
