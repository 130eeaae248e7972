//! Runs of job files: any number of ranks gives the same results, and no job step is repeated without need.

use std::path::Path;

use crate::common::experiments::{SMALL, SMALL_STEPS, result_files, results, run, states, to_do, write};
use crate::common::{launcher, macrok, ranks, real_data, text};

#[test]
fn any_number_of_ranks_gives_the_same_results() {
    let alone = tempfile::tempdir().unwrap();
    write(alone.path(), "job.toml", SMALL);
    let ran = run(alone.path(), "job.toml", &["--threads", "1"]).ok();
    assert!(ran.stdout.contains("frank-wolfe  expected macro-f1"), "{ran}");
    let one = result_files(alone.path());
    assert_eq!(one[0].matches("\"strategy\"").count(), 12, "{}", one[0]);
    for (count, threads) in [(1, "2"), (2, "1"), (3, "1")] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "job.toml", SMALL);
        let args = ["run", "job.toml", "--out", "out", "--threads", threads];
        let Some(ran) = ranks(count, folder.path(), &args) else { return };
        ran.ok();
        assert_eq!(result_files(folder.path()), one, "{count} ranks, {threads} threads");
    }
}

#[test]
fn a_run_gives_the_results_of_the_commands_it_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", SMALL);
    run(folder, "job.toml", &[]).ok();
    let [fit, test] = ["out/data/fit.h5", "out/data/test.h5"];
    let shape = ["--labels", "40", "--nnz", "12", "--features", "30"];
    macrok(folder, &[&["synth", "fit.h5", "--instances", "300"], &shape[..]].concat()).ok();
    crate::common::files::assert_same_content(&folder.join("fit.h5"), &folder.join(fit));
    for (target, labels) in [("labels", Some(["--labels", fit])), ("expected", None)] {
        let out = format!("{target}.h5");
        let args = ["fit", "--marginals", fit, "-k", "3", "--metric", "macro-f1", "--max-iters", "6"];
        let more = ["--out", &out, "--json", "fit.json", "--force"];
        macrok(folder, &[&args[..], &more, labels.as_ref().map_or(&[][..], |labels| &labels[..])].concat())
            .ok();
        let args = ["evaluate", &out, "--marginals", test, "--labels", test, "--train-labels", fit];
        macrok(folder, &[&args[..], &["--repeats", "3", "--json", "evaluate.json", "--force"]].concat()).ok();
        let read = |name: &str| -> serde_json::Value {
            serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
        };
        let (fitted, evaluated) = (read("fit.json"), read("evaluate.json"));
        let all = results(folder);
        let ours = all["results"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["k"] == 3 && row["metric"] == "macro-f1" && row["targets"] == target);
        let ours = ours.expect("the run has it too");
        for fact in ["utility", "rules", "iterations", "passes", "stopped"] {
            assert_eq!(ours[fact], fitted[fact], "{fact} of {target}");
        }
        for (name, value) in evaluated["metrics"].as_object().unwrap() {
            assert_eq!(&ours["metrics"][name], value, "{name} of {target}");
        }
    }
}

#[test]
fn the_skeleton_runs_and_has_the_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let skeleton = macrok(folder, &["run", "--skeleton"]).ok().stdout;
    write(folder, "job.toml", &skeleton);
    run(folder, "job.toml", &[]).ok();
    // A job that only names its rows means the same, so nothing is left to do.
    write(folder, "short.toml", "[data.fit.synth]\n[data.test.synth]\nfirst-row = 2000\n");
    assert_eq!(to_do(folder, "short.toml"), Default::default());
    assert_eq!(states(folder, "short.toml").len(), states(folder, "job.toml").len());
}

#[test]
fn every_key_is_in_the_skeleton() {
    let folder = tempfile::tempdir().unwrap();
    let skeleton = macrok(folder.path(), &["run", "--skeleton"]).ok().stdout;
    for section in ["", "[fit]\n", "[baseline]\n", "[evaluate]\n", "[synth]\n", "[data.fit.synth]\n"] {
        write(folder.path(), "job.toml", &format!("{section}no-such-key = 1\n"));
        let ran = run(folder.path(), "job.toml", &[]);
        let allowed = ran.errors()[0].split_once("allowed: ").expect("a list").1;
        for key in allowed.split(", ") {
            let known = |line: &str| line.trim_start_matches("# ").starts_with(&format!("{key} ="));
            let is_section =
                || skeleton.contains(&format!("[{key}")) || skeleton.contains(&format!(".{key}]"));
            assert!(skeleton.lines().any(known) || is_section(), "{key} of '{section}' in\n{skeleton}");
        }
    }
}

#[test]
fn no_step_is_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", SMALL);
    assert_eq!(to_do(folder, "job.toml").len(), SMALL_STEPS);
    assert!(!folder.join("out").exists(), "a list writes no files");
    let first = run(folder, "job.toml", &[]).ok();
    assert!(first.stdout.contains(&format!("{SMALL_STEPS} steps, none reused from earlier runs")), "{first}");
    let files = result_files(folder);
    let written = |name: &str| folder.join("out").join(name).metadata().unwrap().modified().unwrap();
    let classifier = "classifiers/k3-frank-wolfe-macro-f1.h5";
    let before = written(classifier);
    let again = run(folder, "job.toml", &[]).ok();
    assert!(
        again.stdout.contains(&format!("{SMALL_STEPS} steps, {SMALL_STEPS} reused from earlier runs")),
        "{again}"
    );
    assert!(!again.stdout.contains("loading"), "{again}");
    assert_eq!((written(classifier), result_files(folder)), (before, files.clone()));
    let table = |ran: &crate::common::Ran| ran.stdout.split_once("200 test instances").unwrap().1.to_owned();
    assert_eq!(table(&again), table(&first));
    run(folder, "job.toml", &["--force"]).ok();
    assert!(written(classifier) > before);
    assert_eq!(result_files(folder), files);
}

/// Changes of the job, and how the names of the job steps start that have to be repeated.
const CHANGES: [(&str, &str, &[&str]); 8] = [
    ("repeats = 3", "repeats = 4", &["evaluation-"]),
    (
        "max-iters = 6",
        "max-iters = 5",
        &["classifier-k1-frank", "classifier-k3-frank", "evaluation-k1-frank", "evaluation-k3-frank"],
    ),
    ("k = [1, 3]", "k = [1, 3, 4]", &["classifier-k4", "evaluation-k4"]),
    ("first-row = 300", "first-row = 301", &["data-test", "evaluation-"]),
    ("instances = 300", "instances = 301", &["data-fit", "classifier-", "evaluation-"]),
    (
        "[fit]",
        "[baseline]\nbeta = 0.25\n[fit]",
        &["classifier-k1-power", "classifier-k3-power", "evaluation-k1-power", "evaluation-k3-power"],
    ),
    ("[fit]", "[baseline]\npropensity-a = 0.6\n[fit]", &[]),
    ("[synth]", "show = [\"macro-f1\"]\n[synth]", &[]),
];

#[test]
fn a_change_repeats_only_the_steps_that_depend_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", SMALL);
    run(folder, "job.toml", &[]).ok();
    for (from, to, again) in CHANGES {
        assert!(SMALL.contains(from));
        write(folder, "changed.toml", &SMALL.replacen(from, to, 1));
        let expected = |name: &String| again.iter().any(|start| name.starts_with(start));
        let states = states(folder, "changed.toml");
        for (name, state) in &states {
            assert_eq!(state != "done", expected(name), "{to}: {name}: {state}");
        }
        assert!(again.iter().all(|start| states.keys().any(|name| name.starts_with(start))), "{to}");
    }
    write(folder, "changed.toml", &SMALL.replace("max-iters = 6", "max-iters = 5"));
    let states = to_do(folder, "changed.toml");
    let why = "to do again: made with max-iters = 6, but this run has max-iters = 5";
    assert_eq!(states["classifier-k1-frank-wolfe-macro-f1"], why);
    // Progress numbers the steps of this run, without gaps.
    let ran = run(folder, "changed.toml", &[]).ok();
    let steps = states.len();
    for number in 1..=steps {
        assert!(ran.stdout.contains(&format!("\n[{number:>2}/{steps}] ")), "step {number}: {ran}");
    }
}

#[test]
fn damaged_steps_are_repeated_with_the_same_results() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", SMALL);
    run(folder, "job.toml", &[]).ok();
    let files = result_files(folder);
    let fit = "classifier-k3-frank-wolfe-macro-f1";
    let record = format!("out/records/{fit}.json");
    let classifier = "out/classifiers/k3-frank-wolfe-macro-f1.h5";
    type Damage = fn(&Path);
    let damages: [(&str, Damage, &str); 5] = [
        (&record, |path| std::fs::write(path, "{").unwrap(), "its record is damaged"),
        (&record, |path| flip(path, "\"rules\": ", "\"rules\": 1"), "its record is damaged"),
        (&record, |path| std::fs::remove_file(path).unwrap(), "to do"),
        (classifier, |path| std::fs::remove_file(path).unwrap(), "its file is missing"),
        (classifier, |path| std::fs::write(path, "nothing").unwrap(), "its file has changed"),
    ];
    for (path, damage, says) in damages {
        damage(&folder.join(path));
        let to_do = to_do(folder, "job.toml");
        assert_eq!(to_do.keys().collect::<Vec<_>>(), [fit], "{says}");
        assert!(to_do[fit].ends_with(says), "{} and not {says}", to_do[fit]);
        run(folder, "job.toml", &[]).ok();
        assert_eq!(result_files(folder), files, "{says}");
    }
}

fn flip(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from));
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn only_the_content_of_data_files_counts() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let shape = ["--labels", "30", "--nnz", "10", "--features", "20", "--instances", "100"];
    std::fs::create_dir(folder.join("here")).unwrap();
    for (name, first) in [("dev", "0"), ("test", "100")] {
        let path = format!("here/{name}.h5");
        macrok(folder, &[&["synth", &path, "--first-row", first], &shape[..]].concat()).ok();
    }
    let data = |part: &str, name: &str| {
        format!("[data.{part}]\nmarginals = \"{{data}}/{name}.h5\"\nlabels = \"{{data}}/{name}.h5:labels\"\n")
    };
    let job = format!("k = [2]\nstrategies = [\"top-k\"]\n{}{}", data("fit", "dev"), data("test", "test"));
    write(folder, "job.toml", &job);
    run(folder, "job.toml", &["--data", "here"]).ok();
    let listed = |data: &str| run(folder, "job.toml", &["--data", data, "--list"]).ok().stdout;
    std::fs::rename(folder.join("here"), folder.join("there")).unwrap();
    for name in ["dev.h5", "test.h5"] {
        let path = folder.join("there").join(name);
        std::fs::write(&path, std::fs::read(&path).unwrap()).unwrap();
    }
    assert!(!listed("there").contains("to do"), "{}", listed("there"));
    macrok(folder, &[&["synth", "there/test.h5", "--first-row", "101", "--force"], &shape[..]].concat()).ok();
    let after = listed("there");
    assert!(after.contains("evaluate  k = 2, top-k  to do again: made with marginals = "), "{after}");
    assert!(after.contains("baseline  k = 2, top-k  done"), "{after}");
}

#[test]
fn a_folder_in_use_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", SMALL);
    std::fs::create_dir(folder.join("out")).unwrap();
    // The lock of a run on another host.
    let held = std::fs::File::create(folder.join("out/run.lock")).unwrap();
    std::fs::write(folder.join("out/run.lock"), r#"{"host":"node7","process":4711,"job":"99"}"#).unwrap();
    held.lock().unwrap();
    let ran = run(folder, "job.toml", &[]);
    assert_eq!(ran.status, Some(1), "{ran}");
    let message = "macrok: error: out: another run uses this folder (process 4711 on node7, Slurm job 99); wait for it, or \
                   name another folder with --out";
    assert_eq!(ran.errors(), [message]);
    // A killed run leaves the file without a lock.
    drop(held);
    run(folder, "job.toml", &[]).ok();
}

#[test]
fn other_folders_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", SMALL);
    std::fs::create_dir(folder.join("out")).unwrap();
    write(&folder.join("out"), "results.csv", "mine");
    let ran = run(folder, "job.toml", &["--force"]);
    assert_eq!(ran.status, Some(2), "{ran}");
    let message =
        "macrok: error: out: not empty, and not the folder of an experiment; name another folder with --out";
    assert_eq!(ran.errors(), [message]);
    let ran = macrok(folder, &["run", "job.toml", "--out", "job.toml"]);
    assert_eq!(ran.status, Some(2), "{ran}");
    assert!(ran.errors()[0].contains("job.toml: is a file, but the results need a folder"), "{ran}");
}

#[test]
fn several_ranks_report_an_error_in_a_job_once() {
    if launcher().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "job.toml", &SMALL.replace("metrics", "metrcs"));
    let ran = ranks(3, folder.path(), &["run", "job.toml", "--out", "out"]).expect("a launcher");
    assert_eq!(ran.status, Some(2), "{ran}");
    assert_eq!(ran.errors().len(), 1, "{ran}");
    assert!(ran.errors()[0].contains("job.toml:3: unknown key `metrcs`; did you mean `metrics`?"), "{ran}");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn the_demo_ends_with_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let job = Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/demo.toml");
    let ran = run(folder.path(), text(&job), &[]).ok();
    let rows = results(folder.path())["results"].as_array().unwrap().len();
    assert_eq!(rows, 4, "{ran}");
    assert!(ran.stdout.contains("20,000 test instances x 1,000 labels"), "{ran}");
    assert!(ran.stdout.contains("Each on the metric it was fitted for"), "{ran}");
}

#[test]
fn the_jobs_for_real_data_agree_with_the_python_tool() {
    for (name, theirs) in [("delicious", "xcolumns.json"), ("eurlex57k", "xcolumns-dev.json")] {
        let Some(theirs) = real_data(&format!("{name}/{theirs}")) else { return };
        let data = theirs.parent().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let job = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("jobs/{name}.toml"));
        run(folder.path(), text(&job), &["--data", text(data)]).ok();
        let theirs: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&theirs).unwrap()).unwrap();
        let all = results(folder.path());
        let mut compared = 0;
        for row in all["results"].as_array().unwrap() {
            let of = |what: &str| row[what].as_str().unwrap_or_default().to_owned();
            let key = |name: &str| format!("{name}@{}", row["k"]);
            // Top-k neither draws nor fits, so only the precision of the numbers differs.
            if of("strategy") == "top-k" {
                for (metric, value) in theirs["baselines"][key("top-k")].as_object().unwrap() {
                    let ours = row["metrics"][metric]["mean"].as_f64().unwrap();
                    let value = value.as_f64().unwrap();
                    assert!((ours - value).abs() < 1e-3, "{name} {metric}: {ours} and {value}");
                    compared += 1;
                }
            }
            if of("strategy") == "frank-wolfe" && of("targets") == "labels" {
                let (ours, value) = (&row["utility"], &theirs["fit"][key(&of("metric"))]["utility"]);
                let (ours, value) = (ours.as_f64().unwrap(), value.as_f64().unwrap());
                assert!(ours >= value * (1.0 - 1e-6), "{name} {}: {ours} and {value}", key(&of("metric")));
                compared += 1;
            }
        }
        assert!(compared > 40, "{compared}");
    }
}
