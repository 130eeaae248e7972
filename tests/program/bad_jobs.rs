//! A wrong job file ends with exit status 2 and one message that names the file, the line and the remedy, and makes no files.

use crate::common::experiments::{SMALL, run, write};
use crate::common::macrok;

const FIT_ROWS: &str = "[data.fit.synth]\ninstances = 300";
const TEST_ROWS: &str = "[data.test.synth]\ninstances = 200\nfirst-row = 300";

/// A text of the small job, its replacement, and the message: line, then problem.
#[rustfmt::skip]
const CASES: [(&str, &str, &str); 66] = [
    ("k = [1, 3]", "k = [1, 3", r#"3: not valid TOML: missing comma between array elements, expected `,`, in `metrics = ["macro-f1", "0.5*macro-recall + 0.5*instance-precision"]`"#),
    ("k = [1, 3]", "k = 3", "2: `k` is 3, but must be a list, such as [1, 3, 5]"),
    ("k = [1, 3]", "k = []", "2: `k` is empty, but must have at least one value"),
    ("k = [1, 3]", "k = [1, 0]", "2: `k` has 0, but every value must be a whole number of at least 1"),
    ("k = [1, 3]", r#"k = [1, "3"]"#, r#"2: `k` has "3", but every value must be a whole number of at least 1"#),
    ("k = [1, 3]", "k = [3, 1, 3]", "2: `k` has 3 twice; leave one of them out"),
    ("k = [1, 3]", "k = [1, 41]", "2: `k` has 41, but [data.fit] has only 40 labels"),
    ("k = [1, 3]", "k = [1, 3]\nk = [5]", "3: not valid TOML: duplicate key, in `k = [5]`"),
    ("metrics =", "metrcs =", "3: unknown key `metrcs`; did you mean `metrics`? allowed: k, metrics, strategies, targets, seeds, show, out, data, synth, fit, baseline, evaluate"),
    ("metrics =", "epsilon =", "3: unknown key `epsilon`; allowed: k, metrics, strategies, targets, seeds, show, out, data, synth, fit, baseline, evaluate"),
    (r#"metrics = ["macro-f1""#, r#"metrics = ["macro-f1", "macro-f2""#, "3: `metrics`: unknown name `macro-f2`; did you mean `macro-f1`?\n  macro-f2\n  ^"),
    (r#"metrics = ["macro-f1""#, r#"metrics = ["macro(tp/(tp+fp)""#, "3: `metrics`: this parenthesis is never closed; add `)`\n  macro(tp/(tp+fp)\n       ^"),
    (r#"metrics = ["macro-f1""#, r#"metrics = ["macro-f1", " macro-f1""#, r#"3: `metrics` has " macro-f1" twice; leave one of them out"#),
    (r#"["top-k", "frank"#, r#"["topk", "frank"#, r#"4: `strategies` has "topk", but every value must be one of frank-wolfe, top-k, power-law, log, propensity, macro-recall, macro-balanced-accuracy; did you mean `top-k`?"#),
    (r#"targets = ["labels""#, r#"targets = ["label""#, r#"5: `targets` has "label", but every value must be one of labels, expected; did you mean `labels`?"#),
    ("[synth]", "seeds = [0, 1]\n\n[synth]", r#"7: `seeds` has 2 values, but init in [fit] is "top-k"; several seeds need init = "random""#),
    ("[synth]", "seeds = [-1]\n\n[synth]", "7: `seeds` has -1, but every value must be a whole number of at least 0"),
    ("[synth]", r#"show = ["ndgc"]

[synth]"#, "7: `show`: unknown name `ndgc`; the list of names is shown by `help`\n  ndgc\n  ^"),
    ("[synth]", "out = 7\n\n[synth]", "7: `out` is 7, but must be text in quotes"),
    ("[synth]", r#"out = "{date}/x"

[synth]"#, r#"7: `out` is "{date}/x", but a path may only start with {data} (the folder of --data) and contain {name} (the name of the job file)"#),
    ("[synth]", "[fits]\n\n[synth]", "7: unknown key `fits`; did you mean `fit`? allowed: k, metrics, strategies, targets, seeds, show, out, data, synth, fit, baseline, evaluate"),
    ("[synth]", "[[synth]]", "7: `synth` is the list [[synth]], but must be a section: [synth]"),
    ("labels = 40", "lables = 40", "8: unknown key `lables` in [synth]; did you mean `labels`? allowed: labels, features, nnz, avg-labels, exponent, seed"),
    ("labels = 40", "labels = 0", "8: `labels` in [synth] is 0, but must be a whole number from 1 to 4294967295"),
    ("labels = 40", "labels = 5000000000", "8: `labels` in [synth] is 5000000000, but must be a whole number from 1 to 4294967295"),
    ("labels = 40", "labels = 40.5", "8: `labels` in [synth] is 40.5, but must be a whole number from 1 to 4294967295"),
    ("avg-labels = 3.0", "avg-labels = 7", "10: `avg-labels` in [synth] is 7, but must be at most half of the 12 marginals per row"),
    ("avg-labels = 3.0", r#"avg-labels = "3""#, r#"10: `avg-labels` in [synth] is "3", but must be a number above 0 and finite"#),
    ("instances = 300", "instances = 0", "14: `instances` in [data.fit.synth] is 0, but must be a whole number of at least 1"),
    ("instances = 300", "instances = 300\nlabels = 40", "15: unknown key `labels` in [data.fit.synth]; allowed: instances, first-row"),
    (FIT_ROWS, "", "15: [data.fit] needs `marginals`: the estimated probabilities, FILE.h5 or FILE.h5:GROUP; or generate rows with `synth`"),
    (TEST_ROWS, "", "13: [data.test] needs `marginals`: the estimated probabilities, FILE.h5 or FILE.h5:GROUP; or generate rows with `synth`"),
    (FIT_ROWS, r#"[data.fit]
marginals = "d.h5"
[data.fit.synth]
instances = 300"#, "15: [data.fit] has both `marginals` and `synth`, but rows are either read or generated; leave one out"),
    (FIT_ROWS, r#"[data.fit]
labels = "d.h5""#, "13: [data.fit] needs `marginals`: the estimated probabilities, FILE.h5 or FILE.h5:GROUP; or generate rows with `synth`"),
    (FIT_ROWS, r#"[data.fit]
marginals = "{data}/d.h5""#, r#"14: `marginals` in [data.fit] is "{data}/d.h5", but {data} needs --data; run: macrok run job.toml --data FOLDER"#),
    (FIT_ROWS, r#"[data.fit]
marginals = "x/{data}/d.h5""#, r#"14: `marginals` in [data.fit] is "x/{data}/d.h5", but a path may only start with {data} (the folder of --data) and contain {name} (the name of the job file)"#),
    (FIT_ROWS, r#"[data.fit]
marginals = "none.h5"
labels = "d.h5""#, "14: none.h5: no such file"),
    (FIT_ROWS, r#"[data.fit]
marginals = "job.toml"
labels = "d.h5""#, "14: job.toml: not an HDF5 file; `macrok import` turns text, ARFF and npz into one"),
    (FIT_ROWS, r#"[data.fit]
marginals = "d.h5:probabilities"
labels = "d.h5""#, "14: d.h5: no group 'probabilities'; the file has features, labels, marginals; name another one as FILE.h5:GROUP"),
    ("[synth]", r#"show = ["macro-recal"]

[synth]"#, r#"7: `show` has "macro-recal", but every value must be a metric of `macrok evaluate`, or a formula; did you mean `macro-recall`?"#),
    ("[synth]", r#"show = ["instance-recal"]

[synth]"#, r#"7: `show` has "instance-recal", but every value must be a metric of `macrok evaluate`, or a formula; did you mean `instance-recall`?"#),
    ("max-iters = 6", r#"init = "top""#, r#"21: `init` in [fit] is "top", but must be top-k, random, prior, or a classifier file that exists"#),
    (FIT_ROWS, r#"[data.fit]
marginals = "d.h5"
labels = "d.h5:features""#, "15: d.h5:marginals is 50 x 20 but d.h5:features is 50 x 500; both must have one row per instance and one column per label"),
    (FIT_ROWS, r#"[data.fit]
marginals = "d.h5"
labels = "d.h5"
clamp = 1"#, "16: `clamp` in [data.fit] is 1, but must be true or false"),
    (FIT_ROWS, r#"[data.fit]
marginals = "d.h5""#, r#"5: `targets` has "labels", but [data.fit] has no `labels`; add them, or write targets = ["expected"]"#),
    (FIT_ROWS, r#"[data.fit]
marginals = "d.h5"
labels = "d.h5""#, "14: [data.test] is for 40 labels, but d.h5:marginals is for 20; the numbers must be equal"),
    (TEST_ROWS, r#"[data.test]
marginals = "d.h5""#, "16: [data.test] needs `labels`: the true labels of the test rows"),
    (TEST_ROWS, r#"[data.test]
marginals = "d.h5"
labels = "d.h5""#, "17: d.h5:marginals is for 20 labels, but [data.fit] is for 40; the numbers must be equal"),
    (TEST_ROWS, "[data.test.synth]\ninstances = 200\nfirst-row = 300\n[data.train]", "19: [data.train] needs `labels`: the labels of the rows that the estimator was trained on, for priors and propensities"),
    (TEST_ROWS, r#"[data.test.synth]
instances = 200
first-row = 300
[data.train]
labels = "d.h5""#, "20: d.h5:labels is for 20 labels, but [data.fit] is for 40; the numbers must be equal"),
    (TEST_ROWS, "[data.test.synth]\ninstances = 200\nfirst-row = 300\n[data.dev]", "19: unknown key `dev` in [data]; allowed: fit, test, train, split"),
    ("max-iters = 6", "max-iters = 0", "21: `max-iters` in [fit] is 0, but must be a whole number from 1 to 8000"),
    ("max-iters = 6", r#"max-iters = "6""#, r#"21: `max-iters` in [fit] is "6", but must be a whole number from 1 to 8000"#),
    ("max-iters = 6", "max-iter = 6", "21: unknown key `max-iter` in [fit]; did you mean `max-iters`? allowed: init, step, max-iters, tolerance, min-gain, epsilon, smoothing, candidates"),
    ("max-iters = 6", "seed = 6", "21: unknown key `seed` in [fit]; allowed: init, step, max-iters, tolerance, min-gain, epsilon, smoothing, candidates"),
    ("max-iters = 6", "k = [3]", "21: unknown key `k` in [fit]; allowed: init, step, max-iters, tolerance, min-gain, epsilon, smoothing, candidates"),
    ("max-iters = 6", r#"step = "serch""#, r#"21: `step` in [fit] is "serch", but must be one of search, classic; did you mean `search`?"#),
    ("max-iters = 6", "epsilon = 1e-9\nsmoothing = 1.0", "21: `epsilon` in [fit] and `smoothing` cannot be used together"),
    ("max-iters = 6", "epsilon = -1", "21: `epsilon` in [fit] is -1, but must be a number above 0 and finite"),
    ("max-iters = 6", r#"init = "none.h5""#, r#"21: `init` in [fit] is "none.h5", but must be top-k, random, prior, or a classifier file that exists"#),
    ("max-iters = 6", r#"init = "d.h5""#, "21: d.h5: is a data file (features, labels, marginals); expected a classifier"),
    ("repeats = 3", "repeats = 0", "24: `repeats` in [evaluate] is 0, but must be a whole number of at least 1"),
    ("repeats = 3", "expected = 1", "24: `expected` in [evaluate] is 1, but must be true or false"),
    ("repeats = 3", "propensity-a = 1000", "24: `propensity-a` in [evaluate] is 1000, but must be a number above 0 and at most 10"),
    ("repeats = 3", "propensity-b = nan", "24: `propensity-b` in [evaluate] is nan, but must be a number above 0 and at most 10"),
    ("[fit]", "[baseline]\nbeta = 5\n\n[fit]", "21: `beta` in [baseline] is 5, but must be a number from 0 to 4"),
];

#[test]
fn every_mistake_in_a_job_is_reported_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "d.h5", "--labels", "20", "--instances", "50"]).ok();
    for (from, to, says) in CASES {
        assert!(SMALL.contains(from), "{from}");
        write(folder, "job.toml", &SMALL.replacen(from, to, 1));
        let ran = run(folder, "job.toml", &[]);
        assert_eq!(ran.status, Some(2), "{to}\n{ran}");
        assert_eq!(ran.stderr.trim_end(), format!("macrok: error: job.toml:{says}"), "{to}");
        assert!(!folder.join("out").exists(), "{to}");
    }
}

#[test]
fn strategies_that_need_labels_are_refused_without() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "d.h5", "--labels", "20", "--instances", "50"]).ok();
    let job = "[data.fit]\nmarginals = \"d.h5\"\n[data.test]\nmarginals = \"d.h5\"\nlabels = \"d.h5\"\n";
    write(folder, "job.toml", &format!("strategies = [\"frank-wolfe\", \"log\"]\n{job}"));
    let ran = run(folder, "job.toml", &[]);
    let message = "macrok: error: job.toml:1: `strategies` has \"log\", which needs the label counts of `labels` in \
                   [data.train] or [data.fit]; add one of them";
    assert_eq!(ran.errors(), [message]);
    // Strategies that need no labels use the marginals.
    write(folder, "job.toml", &format!("k = [2]\nstrategies = [\"frank-wolfe\"]\n{job}"));
    let ran = run(folder, "job.toml", &[]).ok();
    assert!(ran.stdout.contains("frank-wolfe  expected macro-f1"), "{ran}");
}

#[test]
fn arguments_next_to_a_job_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "job.toml", SMALL);
    std::fs::write(folder.join("binary.toml"), [0xff, 0xfe]).unwrap();
    for (args, says) in [
        (
            vec!["run", "none.toml"],
            "none.toml: no such file; `macrok run --skeleton` prints a job file to start from",
        ),
        (vec!["run", "binary.toml"], "binary.toml: not valid UTF-8, so it cannot be a job file"),
        (
            vec!["run", "job.toml", "--data", "."],
            "--data is given, but no path in job.toml starts with {data}",
        ),
    ] {
        let ran = macrok(folder, &args);
        assert_eq!(ran.status, Some(2), "{ran}");
        assert_eq!(ran.errors(), [format!("macrok: error: {says}")]);
    }
    assert!(!folder.join("results").exists());
}
