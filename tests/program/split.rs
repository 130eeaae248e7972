//! Splits put every row into one part, unchanged, on any number of ranks, and write all parts or none.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::experiments::{result_files, run, states, to_do, write};
use crate::common::files::{Parts, assert_same_content, change, content, create, integers};
use crate::common::{Ran, launcher, macrok, names, on, ranks, real_data, text};
use hdf5::types::VarLenUnicode;
use serde_json::Value;

fn split(folder: &Path, args: &str) -> Ran {
    macrok(folder, &["split"].into_iter().chain(args.split(' ')).collect::<Vec<_>>())
}

fn facts(folder: &Path, args: &str) -> Value {
    serde_json::from_str(&split(folder, &format!("{args} --json -")).ok().stdout).unwrap()
}

/// Returns the rows of a group: columns and bits of the values.
fn rows(path: &Path, group: &str) -> Vec<Vec<(i64, u32)>> {
    let starts = integers(path, &format!("{group}/indptr"));
    let columns = integers(path, &format!("{group}/indices"));
    let file = hdf5::File::open(path).unwrap();
    let values: Vec<f32> = file.dataset(&format!("{group}/data")).unwrap().read_raw().unwrap();
    let entries =
        |range: std::ops::Range<usize>| range.map(|at| (columns[at], values[at].to_bits())).collect();
    starts.windows(2).map(|pair| entries(pair[0] as usize..pair[1] as usize)).collect()
}

fn texts(path: &Path, dataset: &str) -> Vec<String> {
    let names: Vec<VarLenUnicode> =
        hdf5::File::open(path).unwrap().dataset(dataset).unwrap().read_raw().unwrap();
    names.iter().map(ToString::to_string).collect()
}

fn write_names(file: &hdf5::File, dataset: &str, names: impl Iterator<Item = String>) {
    let names: Vec<VarLenUnicode> = names.map(|name| name.parse().unwrap()).collect();
    file.new_dataset_builder().with_data(&names).create(dataset).unwrap();
}

#[test]
fn every_row_is_in_one_part_with_all_its_groups() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "data.h5", "--instances", "301", "--labels", "40", "--nnz", "12"]).ok();
    change(&folder.join("data.h5"), |file| {
        write_names(file, "instance_names", (0..301).map(|row| format!("row {row}")));
        write_names(file, "label_names", (0..40).map(|label| format!("label {label}")));
    });
    let source = folder.join("data.h5");
    for method in ["", " --stratified"] {
        split(folder, &format!("data.h5 --fractions 0.5,0.3,0.2 --seed 7 --out part --force{method}")).ok();
        let mut seen = BTreeSet::new();
        for (part, size) in [(1, 151), (2, 90), (3, 60)] {
            let path = folder.join(format!("part-{part}.h5"));
            let numbers = integers(&path, "rows");
            assert_eq!(numbers.len(), size, "part {part}{method}");
            assert!(numbers.is_sorted_by(|a, b| a < b));
            for group in ["features", "labels", "marginals"] {
                let (all, found) = (rows(&source, group), rows(&path, group));
                let expected: Vec<_> = numbers.iter().map(|&row| all[row as usize].clone()).collect();
                assert_eq!(found, expected, "{group} of part {part}{method}");
                let shape = |path: &Path| -> Vec<i64> {
                    let file = hdf5::File::open(path).unwrap();
                    file.group(group).unwrap().attr("shape").unwrap().read_raw().unwrap()
                };
                assert_eq!(shape(&path), [size as i64, shape(&source)[1]]);
            }
            let expected: Vec<String> = numbers.iter().map(|row| format!("row {row}")).collect();
            assert_eq!(texts(&path, "instance_names"), expected);
            assert_eq!(texts(&path, "label_names"), texts(&source, "label_names"));
            seen.extend(numbers);
        }
        assert!(seen.into_iter().eq(0..301));
    }
    let file = hdf5::File::open(folder.join("part-3.h5")).unwrap();
    let rows = file.dataset("rows").unwrap();
    let number = |name: &str| rows.attr(name).unwrap().read_scalar::<u64>().unwrap();
    assert_eq!((number("seed"), number("part")), (7, 3));
    assert_eq!(rows.attr("fractions").unwrap().read_raw::<f64>().unwrap(), [0.5, 0.3, 0.2]);
    let text = |name: &str| rows.attr(name).unwrap().read_scalar::<VarLenUnicode>().unwrap().to_string();
    assert_eq!((text("method"), text("source")), ("stratified".into(), "data.h5".into()));
    drop(file);
    let shown = macrok(folder, &["inspect", "part-3.h5"]).ok().stdout;
    assert!(shown.contains("part 3 of data.h5, stratified split by 0.5,0.3,0.2, seed 7"), "{shown}");
}

#[test]
fn any_ranks_and_threads_write_the_same_parts() {
    if launcher().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "data.h5", "--instances", "403", "--labels", "60", "--nnz", "15"]).ok();
    for method in ["", "--stratified"] {
        let args = |out: &'static str, threads: &'static str| {
            let mut args = vec!["split", "data.h5", "--fractions", "0.75,0.25", "--seed", "3", "--force"];
            args.extend(["--out", out, "--threads", threads]);
            args.extend((!method.is_empty()).then_some(method));
            args
        };
        macrok(folder, &args("one", "1")).ok();
        for (count, threads) in [(1, "2"), (2, "1"), (3, "1"), (4, "1")] {
            ranks(count, folder, &args("other", threads)).expect("a launcher").ok();
            for part in 1..=2 {
                let path = |name: &str| folder.join(format!("{name}-{part}.h5"));
                assert_same_content(&path("one"), &path("other"));
            }
        }
    }
}

#[test]
fn parts_depend_on_seed_fractions_and_method() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "data.h5", "--instances", "200"]).ok();
    let first = |args: &str| {
        split(folder, &format!("data.h5 --out a.h5,b.h5 --force {args}")).ok();
        integers(&folder.join("a.h5"), "rows")
    };
    let one = first("--seed 1");
    assert_eq!(one, first("--seed 1"));
    assert_eq!(one, first("--seed 1 --fractions 0.5,0.5"));
    assert_ne!(one, first("--seed 2"));
    assert_ne!(one, first("--seed 1 --stratified"));
    assert_eq!(first("--fractions 0.75,0.25").len(), 150);
}

#[test]
fn parts_are_named_after_the_data_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "my.data.h5", "--instances", "20"]).ok();
    let made = |args: &str| {
        let before: BTreeSet<String> = names(folder).into_iter().collect();
        split(folder, args).ok();
        let after: BTreeSet<String> = names(folder).into_iter().collect();
        after.difference(&before).cloned().collect::<Vec<_>>()
    };
    assert_eq!(made("my.data.h5"), ["my.data-1.h5", "my.data-2.h5"]);
    assert_eq!(made("my.data.h5 --out x --fractions 0.4,0.3,0.3"), ["x-1.h5", "x-2.h5", "x-3.h5"]);
    assert_eq!(made("my.data.h5 --out y.h5"), ["y-1.h5", "y-2.h5"]);
    assert_eq!(made("my.data.h5 --out v1.0"), ["v1.0-1.h5", "v1.0-2.h5"]);
    assert_eq!(made("my.data.h5 --out train.h5,test.h5"), ["test.h5", "train.h5"]);
}

#[test]
fn all_parts_are_written_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "data.h5", "--instances", "30"]).ok();
    std::fs::write(folder.join("b.h5"), "mine").unwrap();
    let refused = split(folder, "data.h5 --out a.h5,b.h5");
    assert_eq!(refused.status, Some(2), "{refused}");
    assert!(refused.errors()[0].contains("b.h5: the file exists; pass --force to replace it"), "{refused}");
    assert_eq!(names(folder), ["b.h5", "data.h5"]);
    // A rank that fails between writing the first and the second part.
    for count in [1, 2] {
        let args = ["split", "data.h5", "--out", "p.h5,q.h5"];
        let Some(failed) = on(count, folder, &args, &[("MACROK_TEST_FAULT", "fail@write#2:0")]) else {
            return;
        };
        assert!(failed.status.is_some_and(|status| status != 0), "{failed}");
        assert!(failed.stderr.contains("fail at write"), "{failed}");
        assert_eq!(names(folder), ["b.h5", "data.h5"]);
    }
    split(folder, "data.h5 --out a.h5,b.h5 --force").ok();
    assert_eq!(names(folder), ["a.h5", "b.h5", "data.h5"]);
    assert!(content(&folder.join("b.h5")).contains_key("/rows"));
}

/// Writes labels of ten rows and features of nine.
fn write_odd(path: &Path) {
    let row: &[(i64, f64)] = &[(0, 1.0)];
    create(path, |file| {
        Parts::new(4, &[row; 10]).write(file, "labels");
        Parts::new(4, &[row; 9]).write(file, "features");
    });
}

#[test]
fn impossible_splits_are_refused_and_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "data.h5", "--instances", "3"]).ok();
    macrok(folder, &["synth", "one.h5", "--instances", "1"]).ok();
    write_odd(&folder.join("odd.h5"));
    let row: &[(i64, f64)] = &[(0, 0.5)];
    create(&folder.join("unlabelled.h5"), |file| Parts::new(4, &[row; 10]).write(file, "features"));
    create(&folder.join("empty.h5"), |file| drop(file.create_group("notes").unwrap()));
    create(&folder.join("names.h5"), |file| {
        Parts::new(4, &[row; 10]).write(file, "features");
        write_names(file, "instance_names", (0..9).map(|row| row.to_string()));
    });
    create(&folder.join("bad.h5"), |file| {
        Parts::new(4, &[row, &[(1, f64::NAN)], row]).write(file, "features");
    });
    std::fs::write(folder.join("text.h5"), "0:1").unwrap();
    let before = names(folder);
    #[rustfmt::skip]
    let cases = [
        ("data.h5 --fractions 0.5,0.4", "--fractions is 0.5,0.4, which sums to 0.9, but must sum to 1"),
        ("data.h5 --fractions 1", "--fractions is 1, but a split has at least two parts, for example 0.5,0.5"),
        ("data.h5 --fractions -0.5,1.5", "--fractions has -0.5, but every value must lie between 0 and 1"),
        ("data.h5 --fractions 0,1", "--fractions has 0, but every value must lie between 0 and 1"),
        ("data.h5 --fractions 0.25,0.25,0.25,0.25", "the fraction 0.25 (part 4) of 3 rows is less than one row, but every part needs one"),
        ("one.h5", "the fraction 0.5 (part 2) of 1 rows is less than one row, but every part needs one"),
        ("unlabelled.h5 --stratified", "unlabelled.h5: --stratified needs the group labels, but the file has only features"),
        ("odd.h5", "odd.h5: features has 9 rows, but labels has 10; all groups describe the same rows"),
        ("empty.h5", "empty.h5: holds notes, but none of features, labels, marginals, predictions"),
        ("names.h5", "names.h5: instance_names has 9 names, but there are 10 rows"),
        ("bad.h5", "bad.h5:features: row 1, column 1 is NaN, which is not a finite number"),
        ("none.h5", "none.h5: no such file"),
        ("text.h5", "text.h5: not an HDF5 file; `macrok import` turns text, ARFF and npz into one"),
        ("data.h5 --out a.h5,b.h5,c.h5", "--out names 3 files, but --fractions has 2 parts; name one file per part, or a common prefix"),
        ("data.h5 --out a.h5,./a.h5", "./a.h5: given for part 2 and for an earlier one"),
        ("data.h5 --out a.h5,data.h5 --force", "data.h5: is an input of this command; write to another file"),
        ("data.h5 --out none/a", "none: no such folder to write into; create it first"),
    ];
    for (args, expected) in cases {
        let ran = split(folder, args);
        assert_eq!(ran.status, Some(2), "{ran}");
        assert_eq!(ran.errors(), [format!("macrok: error: {expected}")], "{args}");
        assert_eq!(names(folder), before, "{args}");
    }
    if let Some(ran) = ranks(3, folder, &["split", "bad.h5", "--fractions", "0.5,0.5"]) {
        assert_eq!((ran.status, ran.errors().len()), (Some(2), 1), "{ran}");
    }
}

#[test]
fn groups_that_are_left_out_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let row: &[(i64, f64)] = &[(0, 0.5)];
    create(&folder.path().join("data.h5"), |file| {
        Parts::new(4, &[row; 10]).write(file, "marginals");
        Parts::new(4, &[row; 10]).write(file, "folds");
        file.new_dataset_builder().with_data(&[1i64; 10]).create("instance_names").unwrap();
    });
    let ran = split(folder.path(), "data.h5").ok();
    let left_out = "not copied to the parts: folds, instance_names (not text of variable length)";
    assert!(ran.stderr.contains(left_out), "{ran}");
}

/// Most of the 4,271 labels are rare.
#[test]
fn rare_labels_of_real_data_are_in_all_parts() {
    let Some(data) = real_data("eurlex57k/dev.h5") else { return };
    let folder = tempfile::tempdir().unwrap();
    let found = |more: &str| {
        let facts = facts(folder.path(), &format!("{} --seed 1 --out part --force{more}", text(&data)));
        let parts = facts["parts"].as_array().unwrap().clone();
        assert!(parts.iter().all(|part| part["rows"] == 3000), "{parts:?}");
        let number = |part: &Value, name: &str| part[name].as_f64().unwrap();
        let largest = |name: &str| parts.iter().map(|part| number(part, name)).fold(0.0, f64::max);
        (largest("worst_count"), largest("worst_share_of_10"), largest("without_positive"))
    };
    let (plain, stratified) = (found(""), found(" --stratified"));
    assert!(stratified.0 <= 3.0 && plain.0 > 10.0, "positives: {stratified:?}, plain {plain:?}");
    assert!(stratified.1 <= 0.15 && plain.1 > 0.3, "shares: {stratified:?}, plain {plain:?}");
    assert!(stratified.2 < plain.2, "labels without: {stratified:?}, plain {plain:?}");
}

/// A job that fits and tests on parts of one file.
const JOB: &str = r#"
k = [3]
strategies = ["top-k", "frank-wolfe"]

[data.split]
file = "data.h5"
fractions = [0.6, 0.4]
seed = 4
stratified = true

[fit]
max-iters = 4

[evaluate]
repeats = 2
"#;

fn made(folder: &Path) {
    macrok(folder, &["synth", "data.h5", "--instances", "300", "--labels", "40", "--nnz", "12"]).ok();
    write(folder, "job.toml", JOB);
}

#[test]
fn a_job_that_splits_gives_the_results_of_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    made(folder);
    run(folder, "job.toml", &[]).ok();
    split(folder, "data.h5 --fractions 0.6,0.4 --seed 4 --stratified --out fit.h5,test.h5").ok();
    for part in ["fit", "test"] {
        let (ours, theirs) = (
            content(&folder.join(format!("out/data/{part}.h5"))),
            content(&folder.join(format!("{part}.h5"))),
        );
        // Jobs do not copy the features.
        let theirs: Vec<_> = theirs.into_iter().filter(|(name, _)| !name.starts_with("/features")).collect();
        assert_eq!(ours.into_iter().collect::<Vec<_>>(), theirs, "{part}");
    }
    write(
        folder,
        "same.toml",
        &JOB.replace(
            "[data.split]\nfile = \"data.h5\"\nfractions = [0.6, 0.4]\nseed = 4\nstratified = true",
            "[data.fit]\nmarginals = \"fit.h5\"\nlabels = \"fit.h5\"\n[data.test]\nmarginals = \"test.h5\"\nlabels = \"test.h5\"",
        ),
    );
    let found = result_files(folder);
    macrok(folder, &["run", "same.toml", "--out", "same"]).ok();
    let same = ["json", "csv", "md"]
        .map(|end| std::fs::read_to_string(folder.join(format!("same/results.{end}"))).unwrap());
    assert_eq!(found.to_vec(), same.to_vec());
    if let Some(ran) = ranks(3, folder, &["run", "job.toml", "--out", "out", "--force"]) {
        ran.ok();
        assert_eq!(result_files(folder), found);
    }
}

#[test]
fn a_split_is_repeated_when_its_options_or_data_change() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    made(folder);
    run(folder, "job.toml", &[]).ok();
    assert_eq!(to_do(folder, "job.toml"), Default::default());
    let changed = |from: &str, to: &str| {
        write(folder, "other.toml", &JOB.replace(from, to));
        let states = states(folder, "other.toml");
        assert!(states.values().all(|state| state != "done"), "{to}: {states:?}");
        states["data-fit"].clone()
    };
    assert!(changed("seed = 4", "seed = 5").contains("made with seed = 4, but this run has seed = 5"));
    assert!(changed("[0.6, 0.4]", "[0.5, 0.5]").contains("fractions = 0.6,0.4"));
    assert!(changed("stratified = true", "stratified = false").contains("split = stratified"));
    // Options of the fit do not concern it.
    write(folder, "other.toml", &JOB.replace("max-iters = 4", "max-iters = 3"));
    assert!(to_do(folder, "other.toml").keys().all(|step| !step.starts_with("data-")));
    macrok(folder, &["synth", "data.h5", "--instances", "301", "--labels", "40", "--nnz", "12", "--force"])
        .ok();
    assert!(to_do(folder, "job.toml")["data-test"].contains("made with file = "));
}

#[test]
fn jobs_with_invalid_splits_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    made(folder);
    macrok(folder, &["synth", "one.h5", "--instances", "1"]).ok();
    let row: &[(i64, f64)] = &[(0, 0.5)];
    create(&folder.join("unlabelled.h5"), |file| Parts::new(4, &[row; 10]).write(file, "marginals"));
    #[rustfmt::skip]
    let cases = [
        ("[0.6, 0.4]", "[0.6, 0.2, 0.2]", "job.toml:7: `fractions` in [data.split] is the list [0.6, 0.2, 0.2], but must be two numbers: the share to fit on, and the share to test on"),
        ("[0.6, 0.4]", "[0.6, 0.5]", "job.toml:7: `fractions` in [data.split] is 0.6,0.5, which sums to 1.1, but must sum to 1"),
        ("[0.6, 0.4]", "[0.6, \"x\"]", "job.toml:7: `fractions` in [data.split] has \"x\", but every value must be a number"),
        ("[0.6, 0.4]", "0.6", "job.toml:7: `fractions` in [data.split] is 0.6, but must be a list of numbers, such as [0.5, 0.5]"),
        ("file = \"data.h5\"\n", "", "job.toml:5: [data.split] needs `file`: the file to split, with the groups labels and marginals"),
        ("\"data.h5\"", "\"none.h5\"", "job.toml:6: none.h5: no such file"),
        ("\"data.h5\"", "\"unlabelled.h5\"", "job.toml:6: unlabelled.h5: no group 'labels'; the file has marginals; name another one as FILE.h5:GROUP"),
        ("\"data.h5\"", "\"one.h5\"", "job.toml:6: [data.split]: the fraction 0.4 (part 2) of 1 rows is less than one row, but every part needs one"),
        ("[fit]", "[data.fit]\nmarginals = \"data.h5\"\n[fit]", "job.toml:11: [data.split] and [data.fit] cannot be used together: the former has the rows to fit on and to test on"),
        ("seed = 4", "sead = 4", "job.toml:8: unknown key `sead` in [data.split]; did you mean `seed`? allowed: file, clamp, fractions, seed, stratified"),
    ];
    for (from, to, expected) in cases {
        write(folder, "job.toml", &JOB.replace(from, to));
        let ran = run(folder, "job.toml", &[]);
        assert_eq!(ran.status, Some(2), "{ran}");
        assert_eq!(ran.errors(), [format!("macrok: error: {expected}")]);
        assert!(!folder.join("out").exists());
    }
}
