//! `macrok slurm` writes valid shell scripts that request the resources of the command. `make test-cluster` submits them.

use std::path::Path;
use std::process::Command;

use crate::common::{Ran, macrok, output};

fn folder_with_data() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    macrok(folder.path(), &["synth", "data.h5", "--instances", "500"]).ok();
    folder
}

const FIT: [&str; 10] =
    ["--", "fit", "--marginals", "data.h5", "--labels", "data.h5", "-k", "3", "--out", "clf.h5"];

fn slurm(folder: &Path, options: &[&str], command: &[&str]) -> Ran {
    macrok(folder, &[&["slurm"], options, command].concat())
}

/// Returns the script, after bash has checked its syntax.
fn script(folder: &Path, options: &[&str], command: &[&str]) -> String {
    let text = slurm(folder, options, command).ok().stdout;
    let path = folder.join("checked.sh");
    std::fs::write(&path, &text).unwrap();
    let checked = output(Command::new("bash").arg("-n").arg(&path)).unwrap();
    assert!(checked.status.success(), "{}\n{text}", String::from_utf8_lossy(&checked.stderr));
    text
}

/// Returns the options that sbatch reads; it stops at the first line that is neither empty nor a comment.
fn directives(script: &str) -> Vec<&str> {
    let head = script.lines().take_while(|line| line.is_empty() || line.starts_with('#'));
    head.filter_map(|line| line.strip_prefix("#SBATCH ")?.split_whitespace().next()).collect()
}

#[test]
fn the_script_requests_what_the_options_say() {
    let folder = folder_with_data();
    let options = "--nodes 4 --tasks-per-node 3 --cpus-per-task 5 --time 1-2 --partition big --account me \
                   --job-name x --sbatch=--qos=long --mpi pmi2 --restarts 7 --module openmpi --module hdf5";
    let text = script(folder.path(), &options.split_whitespace().collect::<Vec<_>>(), &FIT);
    let requested = directives(&text);
    for wanted in [
        "--nodes=4",
        "--ntasks-per-node=3",
        "--cpus-per-task=5",
        "--time=1-02:00:00",
        "--partition=big",
        "--account=me",
        "--job-name=x",
        "--qos=long",
        "--signal=USR1@120",
        "--requeue",
        "--open-mode=append",
        "--output=%x-%j.out",
    ] {
        assert!(requested.contains(&wanted), "{wanted} is not in\n{text}");
    }
    for line in
        ["module load openmpi hdf5 || exit", "mpi=${MACROK_MPI:-pmi2}", "restarts=${MACROK_RESTARTS:-7}"]
    {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}

#[test]
fn the_shell_sees_the_words_of_the_command() {
    let folder = folder_with_data();
    let metric = ["--metric", "0.3*instance-precision + 0.7*macro-f1"];
    let text = script(folder.path(), &[], &[&FIT[..], &metric].concat());
    let line = text.lines().find(|line| line.starts_with("set -- ")).unwrap();
    let shown = output(Command::new("bash").args(["-c", &format!("{line}; printf '%s\\n' \"$@\"")])).unwrap();
    let words: Vec<String> = String::from_utf8_lossy(&shown.stdout).lines().map(str::to_owned).collect();
    assert_eq!(words, [&FIT[2..], &metric].concat());
}

/// Returns the memory in the script, and the needs of all ranks it is computed from.
fn memory(folder: &Path, options: &[&str], command: &[&str]) -> (String, u64) {
    let ran = slurm(folder, &[options, &["--json", "-"]].concat(), command).ok();
    let facts: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let memory = facts["memory"].as_str().unwrap().to_owned();
    assert!(facts["script"].as_str().unwrap().contains(&format!("#SBATCH --mem={memory} ")), "{facts:#}");
    (memory, facts["memory_needed_bytes"].as_u64().unwrap())
}

#[test]
fn the_memory_is_that_of_the_fit() {
    let folder = folder_with_data();
    let one = ["--nodes", "1", "--tasks-per-node", "1", "--cpus-per-task", "2"];
    let (_, planned) = memory(folder.path(), &one, &FIT);
    let fit = [&FIT[1..], &["--threads", "2", "--json", "fit.json"]].concat();
    macrok(folder.path(), &fit).ok();
    let text = std::fs::read_to_string(folder.path().join("fit.json")).unwrap();
    let facts: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(facts["memory_needed_bytes"], planned);
}

#[test]
fn more_threads_and_ranks_on_a_node_get_more_memory() {
    let folder = folder_with_data();
    let gib = |options: &str| {
        let options: Vec<&str> = options.split(' ').collect();
        let (memory, _) = memory(folder.path(), &options, &FIT);
        memory.strip_suffix('G').unwrap().parse::<u64>().unwrap()
    };
    let small = gib("--nodes 1 --tasks-per-node 1 --cpus-per-task 1");
    assert_eq!(small, 1);
    let ranks = gib("--nodes 1 --tasks-per-node 16 --cpus-per-task 8");
    assert!(ranks > 4, "{ranks}");
    assert_eq!(
        gib("--nodes 50 --tasks-per-node 16 --cpus-per-task 8"),
        ranks,
        "each node has as many ranks as before"
    );
}

#[test]
fn every_command_for_ranks_has_a_script() {
    let folder = folder_with_data();
    let folder = folder.path();
    macrok(folder, &FIT[1..]).ok();
    let data = ["--marginals", "data.h5"];
    let predict = [&["--", "predict", "clf.h5", "--out", "pred.h5"][..], &data].concat();
    let text = script(folder, &[], &predict);
    assert!(text.contains("\nlaunch predict \"$@\"") && !text.contains("--resume"), "{text}");
    macrok(folder, &predict[1..]).ok();
    let labels = ["--labels", "data.h5"];
    for subject in [&["clf.h5", "--marginals", "data.h5"][..], &["--predictions", "pred.h5"]] {
        let text = script(folder, &[], &[&["--", "evaluate"], subject, &labels].concat());
        assert!(text.contains("\nlaunch evaluate \"$@\"") && text.contains("#SBATCH --mem=1G"), "{text}");
    }
}

#[test]
fn a_run_gets_the_memory_of_its_largest_step() {
    let folder = folder_with_data();
    let folder = folder.path();
    macrok(folder, &["synth", "many.h5", "--instances", "20", "--labels", "200000", "--nnz", "8"]).ok();
    let job = |data: &str, iterations: usize| {
        let part = |name: &str| format!("[data.{name}]\nmarginals = \"{data}\"\nlabels = \"{data}\"\n");
        let text = format!("k = [1]\nmetrics = [\"macro-f1\"]\n{}{}", part("fit"), part("test"));
        std::fs::write(folder.join("job.toml"), format!("{text}[fit]\nmax-iters = {iterations}\n")).unwrap();
        script(folder, &["--tasks-per-node", "1"], &["--", "run", "job.toml"])
    };
    assert!(job("data.h5", 50).contains("#SBATCH --mem=1G"));
    // With up to 500 rules for many labels, the rules need most of the memory.
    assert!(job("many.h5", 500).contains("#SBATCH --mem=4G"), "{}", job("many.h5", 500));
    std::fs::write(
        folder.join("job.toml"),
        "k = [1]\nmetrics = [\"macro-f1\"]\n[synth]\n[data.fit.synth]\n[data.test.synth]\n",
    )
    .unwrap();
    let made = script(folder, &[], &["--", "run", "job.toml"]);
    assert!(!made.contains("\n#SBATCH --mem="), "the memory of data that the job makes is not known: {made}");
    let absent = slurm(folder, &[], &["--", "run", "none.toml"]);
    assert_eq!((absent.status, absent.errors().len()), (Some(2), 1), "{absent}");
}

#[test]
fn a_script_for_a_command_without_arguments_takes_them_from_sbatch() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["train", "marginals", "fit", "evaluate", "predict", "run"] {
        let text = script(folder.path(), &["--nodes", "8"], &["--", command]);
        assert!(text.contains(&format!("sbatch slurm/{command}.sbatch ")), "{text}");
        assert!(!text.contains("\nset -- ") && directives(&text).contains(&"--nodes=8"), "{text}");
    }
}

#[test]
fn scripts_resume_trainings() {
    let folder = folder_with_data();
    let train = "-- train data.h5 --estimator plt --out tree.model";
    let train: Vec<&str> = train.split_whitespace().collect();
    let text = script(folder.path(), &[], &train);
    assert!(text.contains("--resume") && text.contains("launch train \"$@\"\nfinish $?"), "{text}");
    assert!(directives(&text).contains(&"--signal=USR1@120"), "{text}");
    let ran = slurm(folder.path(), &["--out", "train.sbatch"], &train).ok();
    assert!(ran.stdout.contains("memory per node: unknown, so left to the site; set it with --mem"), "{ran}");
    let wrong = slurm(folder.path(), &[], &["--", "train", "data.h5", "--estimator", "tree", "--out", "x"]);
    assert_eq!((wrong.status, wrong.errors().len()), (Some(2), 1), "{wrong}");
}

#[test]
fn an_existing_script_is_replaced_only_with_force() {
    let folder = folder_with_data();
    let out = ["--out", "job.sbatch"];
    let ran = slurm(folder.path(), &out, &FIT).ok();
    assert!(ran.stdout.contains("sbatch job.sbatch"), "{ran}");
    assert!(std::fs::read_to_string(folder.path().join("job.sbatch")).unwrap().starts_with("#!/bin/bash\n"));
    let again = slurm(folder.path(), &out, &FIT);
    assert_eq!((again.status, again.errors().len()), (Some(2), 1), "{again}");
    slurm(folder.path(), &["--out", "job.sbatch", "--force"], &FIT).ok();
}

#[test]
fn mistakes_in_the_command_are_refused() {
    let folder = folder_with_data();
    let cases: [(&[&str], &str); 7] = [
        (&["synth", "x.h5"], "after --: the command is `synth`, but must be one of train, marginals, fit,"),
        (&["fit", "--marginal", "data.h5"], "after --: unknown option --marginal; did you mean --marginals?"),
        (&["fit", "--marginals", "data.h5", "--out", "x.h5"], "after --: missing -k <K>"),
        (
            &["fit", "--marginals", "no.h5", "-k", "1", "--out", "x.h5"],
            "no.h5: no such file; to write a script before",
        ),
        (&["fit", "--marginals", "data.h5:x", "-k", "1", "--out", "x.h5"], "--mem 64G"),
        (&["predict", "no.h5", "--marginals", "data.h5", "--out", "x.h5"], "no.h5: no such file"),
        (
            &["evaluate", "--labels", "data.h5"],
            "after --: missing --marginals <FILE[:GROUP]>, <CLASSIFIER>; see macrok evaluate --help",
        ),
    ];
    for (command, message) in cases {
        let ran = slurm(folder.path(), &[], &[&["--"], command].concat());
        assert_eq!((ran.status, ran.errors().len()), (Some(2), 1), "{ran}");
        assert!(ran.errors()[0].contains(message), "{message}\n{ran}");
        assert!(ran.stdout.is_empty(), "{ran}");
    }
    // With --mem the data may be missing, but the command is still checked.
    let bad = ["--", "fit", "--marginals", "no.h5", "-k", "1", "--out", "x.h5", "--checkpoint-every", "0"];
    let ran = slurm(folder.path(), &["--mem", "64G"], &bad);
    assert!(ran.status == Some(2) && ran.errors()[0].contains("--resume needs checkpoints"), "{ran}");
    let fit = ["--", "fit", "--marginals", "no.h5", "-k", "1", "--out", "x.h5"];
    let text = script(folder.path(), &["--mem", "64G"], &fit);
    assert!(directives(&text).contains(&"--mem=64G"), "{text}");
}
