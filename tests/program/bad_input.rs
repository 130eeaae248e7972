//! Bad input ends with exit status 2 and one message that names the file, the place and the value, and leaves no files.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::common::files::{Parts, create, set_text};
use crate::common::{Ran, limited, macrok, missing, output, program, run};

/// A valid data file of five rows and four labels, for cases to change.
struct Data {
    marginals: Parts,
    labels: Parts,
}

fn good() -> Data {
    Data {
        marginals: Parts::new(
            4,
            &[
                &[(0, 0.5), (2, 0.25)],
                &[(1, 0.5), (2, 0.75)],
                &[(0, 0.125), (3, 1.0)],
                &[(1, 0.0), (3, 0.5)],
                &[(0, 0.75), (1, 0.5)],
            ],
        ),
        labels: Parts::new(4, &[&[(0, 1.0)], &[(1, 1.0), (2, 1.0)], &[], &[(3, 1.0)], &[(0, 1.0)]]),
    }
}

fn write(folder: &Path, data: &Data, change: fn(&hdf5::File)) {
    create(&folder.join("d.h5"), |file| {
        data.marginals.write(file, "marginals");
        data.labels.write(file, "labels");
        change(file);
    });
}

/// Writes `d.h5` with changed numbers.
fn spoil(folder: &Path, change: fn(&mut Data)) {
    let mut data = good();
    change(&mut data);
    write(folder, &data, |_| ());
}

/// Writes `d.h5` with a changed structure.
fn rebuild(folder: &Path, change: fn(&hdf5::File)) {
    write(folder, &good(), change);
}

fn unlink(file: &hdf5::File, name: &str) {
    file.unlink(name).unwrap();
}

/// A classifier with one rule for three labels.
fn write_classifier(folder: &Path) {
    let row = ndarray::arr2(&[[1.0f32, 1.0, 1.0]]);
    create(&folder.join("c.h5"), |file| {
        file.new_dataset_builder().with_data(&row).create("slopes").unwrap();
        file.new_dataset_builder().with_data(&row).create("intercepts").unwrap();
        file.new_dataset_builder().with_data(&[1.0f64]).create("weights").unwrap();
        file.new_attr::<u64>().create("k").unwrap().write_scalar(&2u64).unwrap();
    });
}

struct Case {
    name: &'static str,
    prepare: fn(&Path),
    command: &'static str,
    says: &'static str,
}

const FIT: &str = "fit --marginals d.h5 --labels d.h5 -k 2 --out clf.h5";

const fn case(name: &'static str, says: &'static str, prepare: fn(&Path)) -> Case {
    Case { name, prepare, command: FIT, says }
}

const fn command(name: &'static str, command: &'static str, says: &'static str, prepare: fn(&Path)) -> Case {
    Case { name, prepare, command, says }
}

fn prepare_good(folder: &Path) {
    write(folder, &good(), |_| ());
}

fn write_predictions(folder: &Path, rows: &[&[(i64, f64)]]) {
    create(&folder.join("p.h5"), |file| Parts::new(4, rows).write(file, "predictions"));
}

const CASES: &[Case] = &[
    case("a NaN", "d.h5:marginals: row 1, column 2 is NaN, which is not a finite number", |at| {
        spoil(at, |d| d.marginals.data[3] = f64::NAN);
    }),
    case("infinity", "d.h5:marginals: row 1, column 2 is inf, which is not a finite number", |at| {
        spoil(at, |d| d.marginals.data[3] = f64::INFINITY);
    }),
    case("a probability of 1.3", "d.h5:marginals: row 4, column 1 is 1.3, but a probability", |at| {
        spoil(at, |d| d.marginals.data[9] = 1.3);
    }),
    case("a probability of 1.3 in single precision", "d.h5:marginals: row 4, column 1 is 1.3, but", |at| {
        rebuild(at, |file| {
            unlink(file, "marginals/data");
            let mut data: Vec<f32> = good().marginals.data.iter().map(|&value| value as f32).collect();
            data[9] = 1.3;
            file.new_dataset_builder().with_data(&data).create("marginals/data").unwrap();
        });
    }),
    case("a probability of -2", "d.h5:marginals: row 0, column 0 is -2, but a probability", |at| {
        spoil(at, |d| d.marginals.data[0] = -2.0);
    }),
    case("a probability of 40", "d.h5:marginals: row 2, column 3 is 40, but a probability", |at| {
        spoil(at, |d| d.marginals.data[5] = 40.0);
    }),
    case(
        "a bad value in a dense matrix",
        "d.h5:marginals: row 4, column 3 is 1.5, but a probability",
        |at| {
            rebuild(at, |file| {
                unlink(file, "marginals");
                let mut dense = ndarray::Array2::<f64>::zeros((5, 4));
                dense[[4, 3]] = 1.5;
                file.new_dataset_builder().with_data(&dense).create("marginals").unwrap();
            });
        },
    ),
    case("the first of two bad rows", "d.h5:marginals: row 1, column 1 is 7, but a probability", |at| {
        spoil(at, |d| (d.marginals.data[2], d.marginals.data[9]) = (7.0, -1.0));
    }),
    case(
        "a column too large",
        "d.h5:marginals: row 3 has column 4, but there are only columns 0 to 3",
        |at| {
            spoil(at, |d| d.marginals.indices[7] = 4);
        },
    ),
    case(
        "a negative column",
        "d.h5:marginals: row 3 has column -1, but there are only columns 0 to 3",
        |at| {
            spoil(at, |d| d.marginals.indices[6] = -1);
        },
    ),
    case(
        "a huge column",
        "d.h5:labels: row 1 has column 4294967296, but there are only columns 0 to 3",
        |at| {
            spoil(at, |d| d.labels.indices[1] = 1 << 32);
        },
    ),
    case(
        "an indptr that falls",
        "d.h5:marginals: indptr is not monotone: row 2 starts at 6 and ends at 4",
        |at| {
            spoil(at, |d| d.marginals.indptr = vec![0, 2, 6, 4, 8, 10]);
        },
    ),
    case(
        "an indptr that leaps",
        "d.h5:marginals: indptr is not monotone: row 1 starts at 2 and ends at 99",
        |at| {
            spoil(at, |d| d.marginals.indptr[2] = 99);
        },
    ),
    case(
        "a negative indptr",
        "d.h5:labels: indptr is not monotone: row 1 starts at 1 and ends at -3",
        |at| {
            spoil(at, |d| d.labels.indptr[2] = -3);
        },
    ),
    case("an indptr too short", "d.h5:marginals: indptr has 5 values, but 5 rows need 6", |at| {
        spoil(at, |d| d.marginals.indptr.truncate(5));
    }),
    case("an indptr that ends late", "d.h5:marginals: indptr ends with 11, but it must be 10", |at| {
        spoil(at, |d| d.marginals.indptr[5] = 11);
    }),
    case("an indptr that starts late", "d.h5:labels: indptr starts with 1, but it must be 0", |at| {
        spoil(at, |d| d.labels.indptr[0] = 1);
    }),
    case("different numbers of rows", "d.h5:marginals is 5 x 4 but d.h5:labels is 4 x 4", |at| {
        spoil(at, |d| d.labels = Parts::new(4, &[&[(0, 1.0)], &[], &[], &[]]));
    }),
    case("different numbers of labels", "d.h5:marginals is 5 x 4 but d.h5:labels is 5 x 6", |at| {
        spoil(at, |d| d.labels.shape[1] = 6);
    }),
    case("a column twice", "d.h5:marginals: row 2 has column 3 twice", |at| {
        spoil(at, |d| d.marginals.indices[4] = 3);
    }),
    case("a column twice, apart", "d.h5:marginals: row 0 has column 2 twice", |at| {
        spoil(at, |d| d.marginals = Parts::new(4, &[&[(2, 0.5), (0, 0.5), (2, 0.5)], &[], &[], &[], &[]]));
    }),
    case("a label of 2", "d.h5:labels: row 3, column 3 is 2, but a label is 0 or 1", |at| {
        spoil(at, |d| d.labels.data[3] = 2.0);
    }),
    case("a label of 0.5", "d.h5:labels: row 4, column 0 is 0.5, but a label is 0 or 1", |at| {
        spoil(at, |d| d.labels.data[4] = 0.5);
    }),
    case("no rows", "d.h5:marginals: the matrix is empty (0 x 4)", |at| {
        spoil(at, |d| d.marginals = Parts::new(4, &[]));
    }),
    case("no columns", "d.h5:marginals: the matrix is empty (2 x 0)", |at| {
        spoil(at, |d| d.marginals = Parts::new(0, &[&[], &[]]));
    }),
    case("a negative shape", "d.h5:marginals: shape is [-5, 4], but it must be", |at| {
        spoil(at, |d| d.marginals.shape[0] = -5);
    }),
    case("a shape of three", "d.h5:marginals: shape is [5, 4, 1], but it must be", |at| {
        spoil(at, |d| d.marginals.shape.push(1));
    }),
    command(
        "a group that is not there",
        "fit --marginals d.h5:oof --labels d.h5 -k 2 --out clf.h5",
        "d.h5: no group 'oof'; the file has labels, marginals; name another one as FILE.h5:GROUP",
        prepare_good,
    ),
    case("no data", "d.h5:marginals: 'data' is missing", |at| {
        rebuild(at, |file| unlink(file, "marginals/data"))
    }),
    case("no indices", "d.h5:marginals: 'indices' is missing", |at| {
        rebuild(at, |file| unlink(file, "marginals/indices"));
    }),
    case("no indptr", "d.h5:labels: 'indptr' is missing", |at| {
        rebuild(at, |file| unlink(file, "labels/indptr"))
    }),
    case("no shape", "d.h5:marginals: 'shape' is missing", |at| {
        rebuild(at, |file| file.group("marginals").unwrap().delete_attr("shape").unwrap());
    }),
    case("a matrix by columns", "d.h5:marginals: encoding-type is 'csc_matrix', but only csr_matrix", |at| {
        rebuild(at, |file| {
            let group = file.group("marginals").unwrap();
            group.delete_attr("encoding-type").unwrap();
            set_text(&group, "encoding-type", "csc_matrix");
        });
    }),
    case(
        "columns that are not integers",
        "d.h5:marginals: 'indices' holds float64, but it must hold integers",
        |at| {
            rebuild(at, |file| {
                unlink(file, "marginals/indices");
                let indices: Vec<f64> = good().marginals.indices.iter().map(|&at| at as f64).collect();
                file.new_dataset_builder().with_data(&indices).create("marginals/indices").unwrap();
            });
        },
    ),
    case(
        "data and indices of different lengths",
        "d.h5:marginals: data has 9 values but indices has 10",
        |at| {
            spoil(at, |d| d.marginals.data.truncate(9));
        },
    ),
    case("text instead of HDF5", "d.h5: not an HDF5 file", |at| {
        std::fs::write(at.join("d.h5"), "2 3 4\n0,2 0:1 2:0.5\n1 1:2\n").unwrap();
    }),
    case("an empty file", "d.h5: the file is empty; expected an HDF5 file", |at| {
        std::fs::write(at.join("d.h5"), "").unwrap();
    }),
    case("a folder in place of a file", "d.h5: is a folder; expected an HDF5 file", |at| {
        std::fs::create_dir(at.join("d.h5")).unwrap();
    }),
    case("half a file", "d.h5: the file is truncated or damaged", |at| {
        prepare_good(at);
        let whole = std::fs::read(at.join("d.h5")).unwrap();
        std::fs::write(at.join("d.h5"), &whole[..whole.len() / 2]).unwrap();
    }),
    case("half of the marginals", "d.h5: the file is truncated or damaged", |at| {
        rebuild(at, |file| {
            // Put the values at the end of the file, in the type that is read without the HDF5 library.
            unlink(file, "marginals/data");
            let data: Vec<f32> = good().marginals.data.iter().map(|&value| value as f32).collect();
            file.new_dataset_builder().with_data(&data).create("marginals/data").unwrap();
        });
        let path = at.join("d.h5");
        let file = hdf5::File::open(&path).unwrap();
        let start = file.dataset("marginals/data").unwrap().offset().expect("a contiguous dataset");
        drop(file);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..start as usize + 5 * 4]).unwrap();
    }),
    case("no file", "d.h5: no such file", |_| ()),
    command(
        "k above the number of labels",
        "fit --marginals d.h5 --labels d.h5 -k 5 --out clf.h5",
        "-k is 5, but d.h5:marginals has only 4 labels",
        prepare_good,
    ),
    command(
        "k above the number of labels of a baseline",
        "baseline top-k --labels d.h5 -k 5 --out clf.h5",
        "-k is 5, but d.h5:labels has only 4 labels",
        prepare_good,
    ),
    command(
        "k of nothing",
        "fit --marginals d.h5 --labels d.h5 -k 0 --out clf.h5",
        "-k is 0, but must be a whole number of at least 1",
        prepare_good,
    ),
    command(
        "k that is not a number",
        "fit --marginals d.h5 --labels d.h5 -k three --out clf.h5",
        "-k is three, but must be a whole number of at least 1; see macrok fit --help",
        prepare_good,
    ),
    command(
        "a negative k",
        "fit --marginals d.h5 --labels d.h5 --k -3 --out clf.h5",
        "-k is -3, but must be a whole number of at least 1",
        prepare_good,
    ),
    command(
        "a negative tolerance",
        "fit --marginals d.h5 --labels d.h5 -k 2 --out clf.h5 --tolerance -1e-3",
        "--tolerance is -1e-3, but must be a number of at least 0 and finite",
        prepare_good,
    ),
    command(
        "a seed that is not a number",
        "fit --marginals d.h5 --labels d.h5 -k 2 --out clf.h5 --seed x",
        "--seed is x, but must be a whole number of at least 0",
        prepare_good,
    ),
    command(
        "missing options",
        "fit --marginals d.h5",
        "missing -k <K>, --out <CLF.h5>; see macrok fit --help",
        prepare_good,
    ),
    command(
        "an unknown command",
        "fitt",
        "unknown command fitt; the commands are synth, import,",
        prepare_good,
    ),
    command(
        "a misspelt option",
        "fit --marginal d.h5",
        "unknown option --marginal; did you mean --marginals?",
        prepare_good,
    ),
    command(
        "a misspelt choice",
        "baseline powerlaw --labels d.h5 -k 2 --out clf.h5",
        "<STRATEGY> is powerlaw, but must be one of top-k, power-law, log, propensity, macro-recall, \
         macro-balanced-accuracy; did you mean power-law?",
        prepare_good,
    ),
    command(
        "options that exclude each other",
        "fit --marginals d.h5 --labels d.h5 -k 2 --out clf.h5 --epsilon 1 --smoothing 1",
        "--epsilon and --smoothing cannot be used together",
        prepare_good,
    ),
    command(
        "a pipe for HDF5",
        "predict c.h5 --marginals d.h5 --out -",
        "--out is -, but must be a file, because HDF5 (.h5) cannot be written to a pipe",
        prepare_good,
    ),
    command(
        "an output that promises text",
        "predict c.h5 --marginals d.h5 -o pred.txt",
        "--out is pred.txt, but must be a file in a format that macrok writes: HDF5 (.h5), such as pred.h5",
        prepare_good,
    ),
    command(
        "an unknown initial classifier",
        "fit --marginals d.h5 --labels d.h5 -k 2 --out clf.h5 --init foo",
        "--init is foo, but must be top-k, random, prior, or a classifier file that exists",
        prepare_good,
    ),
    command(
        "a metric with the words in another order",
        "fit --marginals d.h5 --labels d.h5 -k 2 --out clf.h5 --metric F1_macro",
        "unknown name `F1_macro`; did you mean `macro-f1`?",
        prepare_good,
    ),
    case("an output that exists", "clf.h5: the file exists; pass --force to replace it", |at| {
        prepare_good(at);
        std::fs::write(at.join("clf.h5"), "precious").unwrap();
    }),
    command(
        "a JSON file that exists",
        "fit --marginals d.h5 --labels d.h5 -k 2 --out clf.h5 --json facts.json",
        "facts.json: the file exists; pass --force to replace it",
        |at| {
            prepare_good(at);
            std::fs::write(at.join("facts.json"), "precious").unwrap();
        },
    ),
    command(
        "a folder that is not there",
        "fit --marginals d.h5 --labels d.h5 -k 2 --out nowhere/clf.h5",
        "nowhere: no such folder to write into",
        prepare_good,
    ),
    // Not even root can write to this folder.
    command(
        "a folder that cannot be written",
        "fit --marginals d.h5 --labels d.h5 -k 2 --out /proc/macrok-test.h5",
        "/proc",
        prepare_good,
    ),
    command(
        "an output that is a folder",
        "fit --marginals d.h5 --labels d.h5 -k 2 --out folder --force",
        "folder: is a folder; expected a file to write",
        |at| {
            prepare_good(at);
            std::fs::create_dir(at.join("folder")).unwrap();
        },
    ),
    command(
        "an unknown metric",
        "fit --marginals d.h5 --labels d.h5 -k 2 --out clf.h5 --metric macro-f1+makro-f1",
        "unknown name `makro-f1`; did you mean `macro-f1`?\n  macro-f1+makro-f1\n           ^",
        prepare_good,
    ),
    command(
        "a classifier for other labels",
        "predict c.h5 --marginals d.h5 --out p.h5",
        "c.h5 is for 3 labels, but d.h5:marginals has 4",
        |at| {
            prepare_good(at);
            write_classifier(at);
        },
    ),
    command(
        "a classifier for other labels to evaluate",
        "evaluate c.h5 --marginals d.h5 --labels d.h5 --json e.json",
        "c.h5 is for 3 labels, but d.h5:marginals has 4",
        |at| {
            prepare_good(at);
            write_classifier(at);
        },
    ),
    command(
        "a classifier for other labels to start from",
        "fit --marginals d.h5 --labels d.h5 -k 2 --out clf.h5 --init c.h5",
        "--init c.h5 is for 3 labels, but the data have 4",
        |at| {
            prepare_good(at);
            write_classifier(at);
        },
    ),
    command(
        "data in place of a classifier",
        "predict d.h5 --marginals d.h5 --out p.h5",
        "d.h5: is a data file (labels, marginals); expected a classifier",
        prepare_good,
    ),
    command(
        "a classifier in place of a model",
        "marginals c.h5 d.h5 --out m.h5",
        "c.h5: is a classifier; expected a model",
        |at| {
            prepare_good(at);
            write_classifier(at);
        },
    ),
    command(
        "a classifier in place of data",
        "fit --marginals c.h5 --labels d.h5 -k 2 --out clf.h5",
        "c.h5: is a classifier; expected a data file with a group 'marginals'",
        |at| {
            prepare_good(at);
            write_classifier(at);
        },
    ),
    command(
        "a file of an unknown kind to inspect",
        "inspect d.h5",
        "d.h5: is an HDF5 file of an unknown kind (other); expected a data file, a classifier or a model",
        |at| create(&at.join("d.h5"), |file| drop(file.create_group("other").unwrap())),
    ),
    command(
        "predictions of different lengths",
        "evaluate --predictions p.h5 --labels d.h5 --json e.json",
        "p.h5:predictions: row 2 has 1 labels, but row 0 has 2",
        |at| {
            prepare_good(at);
            let row: &[(i64, f64)] = &[(0, 0.5), (1, 0.5)];
            write_predictions(at, &[row, row, &[(3, 1.0)], row, row]);
        },
    ),
    command(
        "no predictions",
        "evaluate --predictions p.h5 --labels d.h5",
        "p.h5:predictions: no labels are predicted",
        |at| {
            prepare_good(at);
            write_predictions(at, &[&[], &[], &[], &[], &[]]);
        },
    ),
];

/// Returns every file of a folder, including hidden ones, with its bytes.
fn listing(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            (entry.file_name().to_string_lossy().into_owned(), bytes)
        })
        .collect()
}

/// Runs a case and returns what the program did wrong, if anything.
fn complaints(case: &Case, run: &dyn Fn(&Path, &[&str]) -> Ran) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    (case.prepare)(folder);
    let before = listing(folder);
    let ran = run(folder, &case.command.split(' ').collect::<Vec<_>>());
    let after = listing(folder);
    let mut wrong = Vec::new();
    if ran.status != Some(2) {
        wrong.push(format!("exit status {:?}, not 2", ran.status));
    }
    if ran.errors().len() != 1 || !ran.errors()[0].starts_with("macrok: error:") {
        wrong.push(format!("{} error lines, not 1", ran.errors().len()));
    }
    if !ran.stderr.contains(&format!("macrok: error: {}", case.says)) {
        wrong.push(format!("does not say: {}", case.says));
    }
    if ran.stderr.contains("panicked") || ran.stderr.contains("internal error") {
        wrong.push("panicked".into());
    }
    if ran.stdout.contains("iteration") {
        wrong.push("worked first and failed then".into());
    }
    if before != after {
        wrong.push(format!("files were {:?}, are {:?}", before.keys(), after.keys()));
    }
    (!wrong.is_empty()).then(|| format!("== {}: {}\n{ran}\n", case.name, wrong.join("; ")))
}

fn complaints_of(cases: &[Case], run: &dyn Fn(&Path, &[&str]) -> Ran) -> Vec<String> {
    cases.iter().filter_map(|case| complaints(case, run)).collect()
}

#[track_caller]
fn assert_all_well(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} cases\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn bad_input_is_refused_with_its_place_and_value() {
    let found = complaints_of(CASES, &macrok);
    assert_all_well(&found);
}

#[test]
fn bad_input_is_refused_by_four_ranks_with_the_same_message() {
    if crate::common::launcher().is_none() {
        return;
    }
    let four = |folder: &Path, args: &[&str]| crate::common::ranks(4, folder, args).expect("a launcher");
    // Starting and ending ranks is mostly waiting.
    let found: Vec<String> = std::thread::scope(|scope| {
        let start = |cases| scope.spawn(move || complaints_of(cases, &four));
        let running: Vec<_> = CASES.chunks(CASES.len().div_ceil(4)).map(start).collect();
        running.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    assert_all_well(&found);
}

#[test]
fn the_unchanged_data_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    prepare_good(folder.path());
    macrok(folder.path(), &FIT.split(' ').collect::<Vec<_>>()).ok();
    assert!(folder.path().join("clf.h5").exists());
}

#[test]
fn clamp_accepts_values_outside_0_to_1() {
    let folder = tempfile::tempdir().unwrap();
    spoil(folder.path(), |d| (d.marginals.data[9], d.marginals.data[0]) = (1.3, -2.0));
    let args: Vec<&str> = FIT.split(' ').collect();
    macrok(folder.path(), &[&args[..], &["--clamp"]].concat()).ok();
    // Clamped values give the same classifier as 1 and 0.
    let clean = tempfile::tempdir().unwrap();
    spoil(clean.path(), |d| (d.marginals.data[9], d.marginals.data[0]) = (1.0, 0.0));
    macrok(clean.path(), &args).ok();
    crate::common::files::assert_same_content(&folder.path().join("clf.h5"), &clean.path().join("clf.h5"));
}

#[test]
fn clamp_refuses_nan() {
    let folder = tempfile::tempdir().unwrap();
    spoil(folder.path(), |d| d.marginals.data[3] = f64::NAN);
    let args: Vec<&str> = FIT.split(' ').collect();
    let ran = macrok(folder.path(), &[&args[..], &["--clamp"]].concat());
    assert_eq!(ran.status, Some(2), "{ran}");
}

#[test]
fn force_replaces_an_output() {
    let folder = tempfile::tempdir().unwrap();
    prepare_good(folder.path());
    std::fs::write(folder.path().join("clf.h5"), "worthless").unwrap();
    let args: Vec<&str> = FIT.split(' ').collect();
    macrok(folder.path(), &[&args[..], &["--force"]].concat()).ok();
    assert!(hdf5::File::open(folder.path().join("clf.h5")).is_ok());
}

#[test]
fn a_file_being_written_is_not_reported_as_damaged() {
    let folder = tempfile::tempdir().unwrap();
    prepare_good(folder.path());
    let writer = hdf5::File::open_rw(folder.path().join("d.h5")).unwrap();
    let ran = macrok(folder.path(), &FIT.split(' ').collect::<Vec<_>>());
    drop(writer);
    assert_ne!(ran.status, Some(0), "{ran}");
    assert_eq!(ran.errors().len(), 1, "{ran}");
    assert!(ran.errors()[0].contains("d.h5"), "{ran}");
    assert!(!ran.stderr.contains("damaged"), "copying it again will not help:\n{ran}");
    assert!(ran.stderr.contains("HDF5_USE_FILE_LOCKING"), "{ran}");
}

#[test]
fn a_read_only_folder_is_refused_before_any_work() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    prepare_good(folder.path());
    let closed = folder.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = limited(60);
    if std::fs::write(closed.join("probe"), "").is_ok() {
        // Root may write everywhere, unless it gives up that capability.
        if !output(Command::new("setpriv").arg("--version")).is_ok_and(|output| output.status.success()) {
            return missing("setpriv, to run without root's access to all files");
        }
        command.args(["setpriv", "--bounding-set", "-dac_override", "--inh-caps", "-dac_override"]);
    }
    command.arg(program()).args("fit --marginals d.h5 --labels d.h5 -k 2 --out closed/clf.h5".split(' '));
    command.current_dir(folder.path());
    let ran = run(command);
    assert_eq!(ran.status, Some(2), "{ran}");
    assert_eq!(ran.errors().len(), 1, "{ran}");
    assert!(!ran.stdout.contains("iteration"), "it worked first and failed then:\n{ran}");
}
