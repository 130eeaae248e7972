//! Outputs are in terms of labels, with more labels than 16-bit codes and with fewer that are renumbered. `ranks.rs` tests
//! the same data on several ranks and threads.

use std::path::Path;

use crate::common::files::{assert_same_content, integers};
use crate::common::{macrok, many_labels};

const LABELS: usize = 70_123;
const ROWS: usize = 300;

fn run(folder: &Path, command: &str) -> crate::common::Ran {
    macrok(folder, &command.split(' ').collect::<Vec<_>>()).ok()
}

fn numbers(path: &Path, dataset: &str) -> Vec<f64> {
    hdf5::File::open(path).unwrap().dataset(dataset).unwrap().read_raw().unwrap()
}

/// Fits on data of `labels` labels, then predicts 4 labels of each row with every rule found.
fn predictions_of_each_rule(folder: &Path, labels: usize) -> Vec<(Vec<f64>, Vec<f64>, Vec<i64>)> {
    many_labels::write(&folder.join("d.h5"), ROWS, labels);
    run(folder, "fit --marginals d.h5 --labels d.h5 -k 4 --max-iters 3 --tolerance 0 --out c.h5");
    let (slopes, intercepts) =
        (numbers(&folder.join("c.h5"), "slopes"), numbers(&folder.join("c.h5"), "intercepts"));
    let rules = slopes.chunks(labels).zip(intercepts.chunks(labels));
    rules
        .enumerate()
        .map(|(number, (slopes, intercepts))| {
            let (rule, out) = (format!("rule{number}.h5"), format!("p{number}.h5"));
            write_rule(&folder.join(&rule), slopes, intercepts);
            run(folder, &format!("predict {rule} --marginals d.h5 --out {out}"));
            let picked = integers(&folder.join(&out), "predictions/indices");
            (slopes.to_vec(), intercepts.to_vec(), picked)
        })
        .collect()
}

fn write_rule(path: &Path, slopes: &[f64], intercepts: &[f64]) {
    crate::common::files::create(path, |file| {
        for (name, values) in [("slopes", slopes), ("intercepts", intercepts)] {
            let row: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            let row = ndarray::Array2::from_shape_vec((1, row.len()), row).unwrap();
            file.new_dataset_builder().with_data(&row).create(name).unwrap();
        }
        file.new_dataset_builder().with_data(&[1.0f64]).create("weights").unwrap();
        file.new_attr::<u64>().create("k").unwrap().write_scalar(&4u64).unwrap();
    });
}

/// Returns the best labels by definition: all scored in f64, the smaller of equally good ones first.
fn best_four(slopes: &[f64], intercepts: &[f64], row: &[(usize, f64)]) -> Vec<i64> {
    let mut scores = intercepts.to_vec();
    row.iter().for_each(|&(label, marginal)| scores[label] += slopes[label] * marginal);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let better = |&a: &usize, &b: &usize| scores[b].total_cmp(&scores[a]).then(a.cmp(&b));
    order.select_nth_unstable_by(3, better);
    let mut best: Vec<i64> = order[..4].iter().map(|&label| label as i64).collect();
    best.sort_unstable();
    best
}

/// Returns the rows of a group: stored marginals, or true labels.
fn rows_of(path: &Path, group: &str) -> Vec<Vec<(usize, f64)>> {
    let part = |name: &str| format!("{group}/{name}");
    let (indptr, indices) = (integers(path, &part("indptr")), integers(path, &part("indices")));
    let data = numbers(path, &part("data"));
    let row = |pair: &[i64]| {
        let range = pair[0] as usize..pair[1] as usize;
        range.map(|at| (indices[at] as usize, data[at])).collect()
    };
    indptr.windows(2).map(row).collect()
}

#[test]
fn every_rule_of_a_fit_predicts_the_best_of_all_labels() {
    for labels in [LABELS, 40_000] {
        let folder = tempfile::tempdir().unwrap();
        let rules = predictions_of_each_rule(folder.path(), labels);
        assert!(rules.len() > 1, "the start alone says little");
        let rows = rows_of(&folder.path().join("d.h5"), "marginals");
        for (slopes, intercepts, picked) in rules {
            for (number, (row, picked)) in rows.iter().zip(picked.chunks(4)).enumerate() {
                assert_eq!(picked, best_four(&slopes, &intercepts, row), "row {number} of {labels} labels");
            }
        }
    }
}

/// The test above and those of `ranks.rs` rely on this.
#[test]
fn the_data_are_difficult() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.h5");
    many_labels::write(&path, ROWS, LABELS);
    let rows = rows_of(&path, "marginals");
    assert!(rows[0].is_empty() && rows[1].len() == 1, "rows shorter than k");
    assert!(rows.iter().any(|row| row.len() > 70_000), "a row longer than 16 bits can number");
    let ties = |row: &&Vec<(usize, f64)>| {
        let mut values: Vec<u64> = row.iter().map(|entry| entry.1.to_bits()).collect();
        values.sort_unstable();
        values.windows(2).any(|pair| pair[0] == pair[1])
    };
    assert!(rows.iter().filter(ties).count() > ROWS / 2, "ties in most rows");
    assert!(integers(&path, "labels/indices").iter().any(|&label| label > 65_536));
}

/// A label predicted without a stored marginal is a true positive in exactly the rows that have it.
#[test]
fn true_labels_are_counted_by_label_and_not_by_column() {
    for labels in [LABELS, 40_000] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        many_labels::write(&folder.join("d.h5"), ROWS, labels);
        let slopes = vec![1.0; labels];
        let mut intercepts = vec![0.0; labels];
        intercepts[many_labels::UNSTORED as usize] = 4.0;
        write_rule(&folder.join("start.h5"), &slopes, &intercepts);
        let fit = "fit --marginals d.h5 --labels d.h5 -k 4 --max-iters 1 --metric instance-precision";
        run(folder, &format!("{fit} --init start.h5 --out c.h5 --json fit.json"));
        let facts = std::fs::read_to_string(folder.join("fit.json")).unwrap();
        let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();

        let (rows, truth) =
            (rows_of(&folder.join("d.h5"), "marginals"), rows_of(&folder.join("d.h5"), "labels"));
        let (mut hits, mut unstored) = (0, 0);
        for (row, truth) in rows.iter().zip(&truth) {
            let has = |label: i64| truth.iter().any(|entry| entry.0 as i64 == label);
            let best = best_four(&slopes, &intercepts, row);
            hits += best.iter().filter(|&&label| has(label)).count();
            let is_stored = row.iter().any(|entry| entry.0 as i32 == many_labels::UNSTORED);
            unstored += usize::from(!is_stored && has(many_labels::UNSTORED.into()));
        }
        assert!(unstored > 10, "labels without a marginal must be right somewhere: {unstored}");
        let (found, wanted) = (facts["utilities"][0].as_f64().unwrap(), hits as f64 / (4 * ROWS) as f64);
        assert!((found - wanted).abs() < 1e-6, "{found} is not {wanted} with {labels} labels");
    }
}

#[test]
fn labels_beyond_16_bits_are_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    many_labels::write(&folder.join("d.h5"), ROWS, LABELS);
    for (out, labels) in [("c.h5", " --labels d.h5"), ("e.h5", "")] {
        run(folder, &format!("fit --marginals d.h5{labels} -k 4 --max-iters 3 --out {out}"));
        for sampling in ["rule", "madow"] {
            run(folder, &format!("predict {out} --marginals d.h5 --out p.h5 --force --sampling {sampling}"));
            let picked = integers(&folder.join("p.h5"), "predictions/indices");
            assert_eq!(picked.len(), ROWS * 4);
            assert!(picked.iter().any(|&label| label > 65_536), "{out}, {sampling}");
            assert!(picked.iter().any(|&label| label <= 65_536), "{out}, {sampling}");
            assert!(picked.chunks(4).all(|row| row.is_sorted_by(|a, b| a < b)), "four different labels");
        }
    }
}

/// Chunked data must be read through the HDF5 library, other data need not.
#[test]
fn a_fit_does_not_depend_on_how_its_data_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    many_labels::write(&folder.join("d.h5"), ROWS, LABELS);
    let (indptr, shape) = (integers(&folder.join("d.h5"), "marginals/indptr"), [ROWS as i64, LABELS as i64]);
    let (indices, data) = (
        integers(&folder.join("d.h5"), "marginals/indices"),
        numbers(&folder.join("d.h5"), "marginals/data"),
    );
    crate::common::files::create(&folder.join("chunks.h5"), |file| {
        let group = file.create_group("marginals").unwrap();
        group.new_attr_builder().with_data(&shape).create("shape").unwrap();
        group.new_dataset_builder().with_data(&indptr).create("indptr").unwrap();
        let chunked = || group.new_dataset_builder().chunk(997).shuffle().deflate(1);
        chunked().with_data(&indices).create("indices").unwrap();
        chunked().with_data(&data).create("data").unwrap();
    });
    for file in ["d", "chunks"] {
        run(folder, &format!("fit --marginals {file}.h5 --labels d.h5 -k 4 --max-iters 3 --out {file}-c.h5"));
    }
    assert_same_content(&folder.join("d-c.h5"), &folder.join("chunks-c.h5"));
}
