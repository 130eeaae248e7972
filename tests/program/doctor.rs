//! `macrok doctor` on real ranks, and the number of threads in real environments.

use std::path::Path;

use crate::common::{Ran, has_mpi, launcher, macrok, macrok_with, ranks_with, run, skipped};
use serde_json::Value;

/// Returns numbers of ranks to try; 0 is a process without a launcher.
fn counts() -> Vec<usize> {
    if launcher().is_some() { vec![0, 1, 2, 3] } else { vec![0] }
}

fn doctor_with(count: usize, folder: &Path, options: &str, variables: &[(&str, &str)]) -> Ran {
    let args: Vec<&str> = ["doctor"].into_iter().chain(options.split_whitespace()).collect();
    match count {
        0 => macrok_with(folder, &args, variables),
        _ => ranks_with(count, folder, &args, variables, 60).expect("a launcher"),
    }
}

/// Returns the run and its JSON facts.
fn facts_with(count: usize, folder: &Path, options: &str, variables: &[(&str, &str)]) -> (Ran, Value) {
    let ran = doctor_with(count, folder, &format!("{options} --json facts.json --force"), variables);
    let text =
        std::fs::read_to_string(folder.join("facts.json")).unwrap_or_else(|_| panic!("no facts:\n{ran}"));
    (ran, serde_json::from_str(&text).unwrap())
}

fn warnings(facts: &Value) -> Vec<&str> {
    facts["warnings"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

/// Returns the number of processors that this test may use.
fn processors() -> usize {
    std::thread::available_parallelism().unwrap().get()
}

fn synth(folder: &Path) {
    macrok(folder, &["synth", "data.h5", "--instances", "300", "--labels", "70"]).ok();
}

#[test]
fn it_describes_the_job_on_any_number_of_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    synth(folder);
    for count in counts() {
        let (ran, facts) = facts_with(count, folder, "--data data.h5 --labels data.h5", &[]);
        let ran = ran.ok();
        let ranks = count.max(1);
        assert_eq!(facts["ranks"], ranks, "{ran}");
        assert_eq!(facts["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(facts["debug_build"], cfg!(debug_assertions));
        let hosts = facts["hosts"].as_array().unwrap();
        assert_eq!(hosts.len(), 1, "{ran}");
        assert_eq!(hosts[0]["ranks"].as_array().unwrap().len(), ranks, "{ran}");
        assert!(hosts[0]["read_bytes_per_second"].as_f64().unwrap() > 1e6, "{ran}");
        assert!(hosts[0]["memory_free_bytes"].as_u64().unwrap() > 1 << 20, "{ran}");
        let allreduce = &facts["allreduce"];
        if ranks == 1 {
            assert_eq!(*allreduce, Value::Null);
        } else {
            assert_eq!(allreduce["labels"], 70);
            let [latency, vector] =
                ["latency_seconds", "seconds"].map(|name| allreduce[name].as_f64().unwrap());
            assert!(latency > 0.0 && vector > 0.0 && vector < 5.0, "{ran}");
        }
        let library = facts["mpi"]["library"].as_str().unwrap();
        assert_eq!(library == "built without MPI", !has_mpi(), "{ran}");
        assert_eq!(facts["launcher"]["ranks"], if count == 0 { Value::Null } else { ranks.into() }, "{ran}");
        // One rank prints the table.
        assert_eq!(ran.stdout.matches("memory free").count(), 1, "{ran}");
        assert!(ran.stdout.contains("memory: 300 instances x 70 labels"), "{ran}");
        assert_eq!(warnings(&facts).contains(&"debug-build"), cfg!(debug_assertions), "{ran}");
        let threads =
            hosts[0]["threads"].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).sum::<u64>();
        assert_eq!(warnings(&facts).contains(&"oversubscribed"), threads as usize > processors(), "{ran}");
        // More ranks than processors slow each other down, because waiting ranks are busy.
        let limit = if threads as usize > processors() { 50.0 } else { 30.0 };
        assert!(ran.took.as_secs_f64() < limit, "it should be quick:\n{ran}");
    }
}

#[test]
fn it_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    for count in counts() {
        doctor_with(count, folder.path(), "", &[]).ok();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}

#[test]
fn it_predicts_the_memory_of_a_fit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    synth(folder);
    for labels in ["", "--labels data.h5"] {
        let (_, facts) = facts_with(0, folder, &format!("--data data.h5 {labels} --threads 2"), &[]);
        let fit =
            format!("fit --marginals data.h5 {labels} -k 3 --out c.h5 --threads 2 --json fit.json --force");
        macrok(folder, &fit.split_whitespace().collect::<Vec<_>>()).ok();
        let fitted: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join("fit.json")).unwrap()).unwrap();
        assert_eq!(facts["memory_needed_bytes"], fitted["memory_needed_bytes"]);
        assert!(facts["memory_needed_bytes"].as_u64().unwrap() > 0);
    }
}

#[test]
fn data_that_cannot_be_loaded_are_refused_after_the_facts() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    synth(folder);
    let memory: &[(&str, &str)] = &[("MACROK_TEST_MEMORY", "1048576")];
    for count in counts() {
        for (data, variables, says) in
            [("data.h5", memory, " of memory needed for "), ("nowhere.h5", &[], "nowhere.h5: no such file")]
        {
            if cfg!(not(debug_assertions)) && !variables.is_empty() {
                skipped("release builds ignore MACROK_TEST_MEMORY");
                continue;
            }
            let (ran, facts) = facts_with(count, folder, &format!("--data {data}"), variables);
            assert_eq!(ran.status, Some(2), "{ran}");
            assert_eq!(ran.errors().len(), 1, "{ran}");
            assert!(ran.errors()[0].contains(says), "{ran}");
            assert!(facts["problem"].as_str().unwrap().contains(says), "{ran}");
            assert!(ran.stdout.contains("memory free"), "{ran}");
        }
    }
}

#[test]
fn invalid_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (options, says) in [
        ("--labels data.h5", "--data <FILE[:GROUP]>"),
        ("--out nowhere", "--out is nowhere, but must be an existing folder"),
        ("--threads 0", "--threads is 0, but must be a whole number of at least 1"),
    ] {
        let ran = doctor_with(0, folder.path(), options, &[]);
        assert_eq!(ran.status, Some(2), "{ran}");
        assert!(ran.stderr.contains(says), "{ran}");
    }
}

#[test]
fn every_source_of_the_number_of_threads_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let threads = |options: &str, variables: &[(&str, &str)]| {
        let (ran, facts) = facts_with(0, folder.path(), options, variables);
        ran.ok();
        let threads = &facts["threads"];
        let reason = threads["reason"].as_str().unwrap().to_owned();
        (
            threads["a_rank"].as_u64().unwrap() as usize,
            reason,
            warnings(&facts).contains(&"threads-not-as-asked"),
        )
    };
    let job = ("SLURM_JOB_ID", "1");
    assert_eq!(threads("--threads 3", &[("OMP_NUM_THREADS", "1")]), (3, "--threads".into(), false));
    assert_eq!(threads("", &[("OMP_NUM_THREADS", "1,4")]), (1, "OMP_NUM_THREADS".into(), false));
    let slurm = ("SLURM_CPUS_PER_TASK", "1");
    assert_eq!(threads("", &[job, slurm]), (1, "SLURM_CPUS_PER_TASK".into(), false));
    let all = processors();
    let (count, reason, _) = threads("", &[]);
    assert_eq!(count, all);
    assert!(reason.starts_with("the rank"), "{reason}");
    let (count, _, warned) = threads("", &[("OMP_NUM_THREADS", "100000")]);
    assert_eq!((count, warned), (all, true));
    let (count, _, warned) = threads("", &[("OMP_NUM_THREADS", "many")]);
    assert_eq!((count, warned), (all, true));
}

#[test]
fn every_command_reports_an_ignored_variable_once() {
    let folder = tempfile::tempdir().unwrap();
    synth(folder.path());
    let variables = [("OMP_NUM_THREADS", "many")];
    for count in counts() {
        let args = ["inspect", "data.h5"];
        let ran = match count {
            0 => macrok_with(folder.path(), &args, &variables),
            _ => ranks_with(count, folder.path(), &args, &variables, 60).expect("a launcher"),
        };
        let ran = ran.ok();
        let says = "macrok: warning: OMP_NUM_THREADS is 'many', but must be a whole number above 0";
        assert_eq!(ran.stderr.matches(says).count(), 1, "{ran}");
    }
}

/// Returns the facts of a job bound to the first processor; `None`, after a notice, if that is impossible.
fn on_one_processor(folder: &Path, ranks: usize) -> Option<Value> {
    if processors() < 2 {
        skipped("there is only one processor");
        return None;
    }
    let mut command = crate::common::limited(60);
    command.args(["taskset", "-c", "0"]);
    if ranks > 0 {
        let launcher = launcher()?;
        command.arg(&launcher.path);
        if launcher.is_open_mpi {
            command.args(["--oversubscribe", "--bind-to", "none"]);
        }
        command.args(["-n", &ranks.to_string()]);
    }
    command.arg(crate::common::program()).args(["doctor", "--json", "facts.json", "--force"]);
    command.current_dir(folder).envs(crate::common::open_mpi_variables());
    run(command).ok();
    Some(serde_json::from_str(&std::fs::read_to_string(folder.join("facts.json")).unwrap()).unwrap())
}

#[test]
fn a_process_bound_to_one_processor_has_one_thread_and_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let Some(facts) = on_one_processor(folder.path(), 0) else { return };
    assert_eq!(facts["threads"]["a_rank"], 1);
    assert_eq!(facts["threads"]["reason"], "the rank is bound to 1 processor");
    assert_eq!(facts["hosts"][0]["bound_to"], serde_json::json!(["0"]));
    assert!(warnings(&facts).contains(&"idle-processors"), "{facts:#}");
}

#[test]
fn ranks_bound_to_the_same_processor_get_a_warning() {
    if launcher().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(facts) = on_one_processor(folder.path(), 2) else { return };
    assert_eq!(facts["hosts"][0]["threads"], serde_json::json!([1, 1]), "{facts:#}");
    assert!(warnings(&facts).contains(&"one-core"), "{facts:#}");
}
