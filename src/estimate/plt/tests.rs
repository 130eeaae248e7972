//! Trees, solver and search against their definitions.

use std::path::Path;

use super::forest::{Forest, NO_NODE};
use super::node_models::NodeModels;
use super::options::{TreeOptions, TreeShape};
use super::solver::{LaneTargets, solve};
use super::train_unit::UnitRows;
use super::training_set::{Positives, TrainingSet, normalised_rows};
use super::tree::{Tree, grow_trees};
use crate::estimate::vector_math::tree_sigmoid;
use crate::estimate::{Model, PredictOptions, TopMarginals};
use crate::random::{Purpose, RandomSequence};
use crate::sparse::{CsrBuilder, RowsView};
use crate::store::ModelFile;

const OPTIONS: TreeOptions = TreeOptions {
    shape: TreeShape::Trees { trees: 1, arity: 2, leaf_size: 6 },
    cost: 10.0,
    tolerance: 0.1,
    max_passes: 100,
    threshold: 0.01,
    seed: 3,
};

/// Rows in which each cell is stored with probability `density`.
fn random_rows(count: usize, width: usize, density: f64, seed: u64) -> CsrBuilder {
    let mut random = RandomSequence::new(seed, Purpose::SynthRow, 0);
    let mut rows = CsrBuilder::default();
    for _ in 0..count {
        for column in 0..width as u32 {
            if random.next_uniform() < density {
                rows.push(column, random.next_uniform() as f32 + 0.1);
            }
        }
        rows.end_row().unwrap();
    }
    rows
}

/// The definition of a forest's marginals: every node of every row.
fn naive_top_marginals(forest: &Forest, rows: RowsView<'_>, keep: usize) -> TopMarginals {
    let rows = normalised_rows(rows);
    let mut kept = TopMarginals::default();
    for row in 0..rows.view().count() {
        let mut dense = vec![0.0f32; forest.features];
        let (columns, values) = rows.view().row(row);
        columns.iter().zip(values).for_each(|(&column, &value)| dense[column as usize] = value);
        let mut marginals: Vec<f32> = Vec::new();
        let mut sums = vec![0.0f32; forest.labels];
        for node in 0..forest.nodes() {
            let (features, weights) = forest.models.node(node);
            let products = features.iter().zip(weights).map(|(&feature, &w)| dense[feature as usize] * w);
            let score = products.fold(0.0f32, |sum, product| sum + product);
            let above = match forest.parents[node] {
                NO_NODE => 1.0,
                parent => marginals[parent as usize],
            };
            marginals.push(above * tree_sigmoid(score + forest.models.biases[node]));
            if forest.leaf_labels[node] != NO_NODE {
                sums[forest.leaf_labels[node] as usize] += marginals[node];
            }
        }
        let trees = forest.trees as f32;
        kept.push(&mut (0..).zip(sums.iter().map(|sum| sum / trees)).collect(), keep);
    }
    kept
}

/// The minimiser of the objective, by gradient descent in double precision: the weights, then the bias.
fn descend(rows: RowsView<'_>, width: usize, target: impl Fn(usize) -> Option<bool>, cost: f64) -> Vec<f64> {
    let mut weights = vec![0.0; width + 1];
    let members: Vec<(usize, bool)> = (0..rows.count()).filter_map(|row| Some((row, target(row)?))).collect();
    let score = |weights: &[f64], row: usize| {
        let (columns, values) = rows.row(row);
        let sum: f64 = columns.iter().zip(values).map(|(&c, &v)| weights[c as usize] * f64::from(v)).sum();
        sum + weights[width]
    };
    // The curvature is at most 1 + cost / 4 * (sum of |x|^2).
    let squares = members.iter().map(|&(row, _)| 1.0 + rows.row(row).1.iter().map(|v| v * v).sum::<f32>());
    let step = 1.0 / (1.0 + cost / 4.0 * f64::from(squares.sum::<f32>()));
    // Nesterov's momentum, restarted whenever it leads uphill.
    let (mut ahead, mut momentum) = (weights.clone(), 1.0f64);
    for _ in 0..200_000 {
        let mut gradient = ahead.clone();
        for &(row, positive) in &members {
            let error = 1.0 / (1.0 + (-score(&ahead, row)).exp()) - f64::from(u8::from(positive));
            let (columns, values) = rows.row(row);
            columns
                .iter()
                .zip(values)
                .for_each(|(&c, &v)| gradient[c as usize] += cost * error * f64::from(v));
            gradient[width] += cost * error;
        }
        let next: Vec<f64> = ahead.iter().zip(&gradient).map(|(w, g)| w - step * g).collect();
        let uphill: f64 = gradient
            .iter()
            .zip(next.iter().zip(&weights))
            .map(|(g, (next, before))| g * (next - before))
            .sum();
        let following =
            if uphill > 0.0 { 1.0 } else { (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) / 2.0 };
        let push = if uphill > 0.0 { 0.0 } else { (momentum - 1.0) / following };
        ahead = next.iter().zip(&weights).map(|(next, before)| next + push * (next - before)).collect();
        (weights, momentum) = (next, following);
        if gradient.iter().all(|g| g.abs() < 1e-7) {
            break;
        }
    }
    weights
}

#[test]
fn the_solver_finds_the_optimum_of_every_lane() {
    let (width, cost) = (9, 10.0);
    let rows = random_rows(40, width, 0.4, 1);
    let mut random = RandomSequence::new(2, Purpose::SynthLabel, 0);
    // The last lane excludes every third row, and the first has no positives.
    let targets: Vec<LaneTargets> = (0..40)
        .map(|row| LaneTargets {
            positive: (random.next_bits() & random.next_bits()) as u32 & 0b110,
            included: if row % 3 == 0 { 0b011 } else { 0b111 },
        })
        .collect();
    let options = TreeOptions { tolerance: 1e-6, max_passes: 5000, cost, ..OPTIONS };
    let found = solve::<4>(rows.view(), width, &targets, &options, 0);
    for lane in 0..3 {
        let of_row = |row: usize| {
            let LaneTargets { positive, included } = targets[row];
            ((included >> lane) & 1 == 1).then_some((positive >> lane) & 1 == 1)
        };
        let best = descend(rows.view(), width, of_row, cost);
        let ours = (0..width).map(|column| found.weights[column][lane]).chain([found.biases[lane]]);
        for (column, (ours, best)) in ours.zip(best).enumerate() {
            assert!(
                (f64::from(ours) - best).abs() < 2e-3,
                "lane {lane}, column {column}: {ours} against {best}"
            );
        }
    }
    assert!((0..width).all(|column| found.weights[column][3] == 0.0), "an unused lane has no weights");
}

fn training_set<'d>(
    features: &'d CsrBuilder,
    width: usize,
    labels: &'d CsrBuilder,
    count: usize,
) -> TrainingSet<'d> {
    let positives = Positives::new(labels.view(), count);
    TrainingSet { features: features.view(), width, labels: labels.view(), positives }
}

fn trained(training_set: &TrainingSet<'_>, options: &TreeOptions) -> Forest {
    let trees = grow_trees(training_set, options);
    let mut models = Vec::new();
    for tree in &trees {
        for (number, unit) in tree.units.iter().enumerate() {
            let rows = training_set.positives.rows_of_any(tree.labels_below(unit.root));
            let rows = UnitRows::gather(training_set, tree, unit.root, &rows, &mut Vec::new());
            models.push(rows.train(tree, unit, options, number as u64));
        }
    }
    Forest::assemble(&trees, training_set.width, &NodeModels::always_reached(), &models)
}

fn forest(shape: TreeShape) -> (Forest, CsrBuilder) {
    let (width, count) = (30, 53);
    let (features, labels) = (random_rows(200, width, 0.3, 4), random_rows(200, count, 0.05, 5));
    let options = TreeOptions { shape, ..OPTIONS };
    (trained(&training_set(&features, width, &labels, count), &options), random_rows(70, width, 0.3, 6))
}

#[test]
fn every_label_is_in_a_tree_once_and_siblings_have_equal_sizes() {
    let (features, labels) = (random_rows(300, 20, 0.3, 7), random_rows(300, 101, 0.05, 8));
    let training_set = training_set(&features, 20, &labels, 101);
    for (arity, leaf_size) in [(2, 6), (3, 1), (16, 100), (5, 7), (200, 50)] {
        let shape = TreeShape::Trees { trees: 1, arity, leaf_size };
        let trees: Vec<Tree> = grow_trees(&training_set, &TreeOptions { shape, ..OPTIONS });
        let tree = &trees[0];
        let leaves = (0..tree.nodes.len()).filter(|&node| tree.is_leaf(node));
        let mut found: Vec<u32> = leaves.map(|leaf| tree.labels[tree.nodes[leaf].labels.start]).collect();
        found.sort_unstable();
        assert_eq!(found, (0..101).collect::<Vec<u32>>(), "arity {arity}, leaf size {leaf_size}");
        for node in tree.nodes.iter().filter(|node| node.labels.len() > leaf_size) {
            let sizes: Vec<usize> =
                node.children.clone().map(|child| tree.nodes[child].labels.len()).collect();
            assert_eq!(sizes.iter().sum::<usize>(), node.labels.len());
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
            assert_eq!(sizes.len(), arity.min(node.labels.len()));
        }
    }
}

#[test]
fn labels_with_similar_rows_are_below_the_same_node() {
    // Rows of two kinds that share no feature and no label.
    let (mut features, mut labels) = (CsrBuilder::default(), CsrBuilder::default());
    let mut random = RandomSequence::new(9, Purpose::SynthRow, 0);
    for row in 0..200u32 {
        let kind = row % 2;
        for at in 0..4 {
            features.push(10 * kind + 2 * at + (random.next_bits() % 2) as u32, 1.0);
        }
        features.end_row().unwrap();
        labels.push_row(&[2 * ((random.next_bits() % 8) as u32) + kind], &[1.0]);
    }
    let trees = grow_trees(&training_set(&features, 20, &labels, 16), &OPTIONS);
    let kinds: Vec<Vec<u32>> =
        trees[0].labels.chunks(8).map(|half| half.iter().map(|label| label % 2).collect()).collect();
    assert!(kinds.iter().all(|half| half.iter().all(|&kind| kind == half[0])), "{kinds:?}");
}

#[test]
fn every_node_is_in_one_unit_below_its_parent() {
    let (features, labels) = (random_rows(300, 20, 0.3, 7), random_rows(300, 101, 0.05, 8));
    let training_set = training_set(&features, 20, &labels, 101);
    for (arity, leaf_size) in [(2, 6), (2, 1), (4, 3), (32, 2)] {
        let shape = TreeShape::Trees { trees: 1, arity, leaf_size };
        let tree = &grow_trees(&training_set, &TreeOptions { shape, ..OPTIONS })[0];
        let mut seen = vec![0];
        for unit in &tree.units {
            assert!(seen.contains(&unit.root), "the root precedes the unit");
            for &node in &unit.nodes {
                assert!(seen.contains(&tree.nodes[node].parent.unwrap()));
                seen.push(node);
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..tree.nodes.len()).collect::<Vec<_>>(), "arity {arity}, leaf size {leaf_size}");
    }
}

const SHAPES: [TreeShape; 5] = [
    TreeShape::Flat,
    TreeShape::Trees { trees: 1, arity: 2, leaf_size: 6 },
    TreeShape::Trees { trees: 1, arity: 3, leaf_size: 1 },
    TreeShape::Trees { trees: 1, arity: 2, leaf_size: 100 },
    TreeShape::Trees { trees: 3, arity: 4, leaf_size: 5 },
];

#[test]
fn search_equals_evaluating_every_label() {
    for shape in SHAPES {
        let (forest, rows) = forest(shape);
        for keep in [1, 2, 7, 53, 200] {
            let all = naive_top_marginals(&forest, rows.view(), keep);
            assert_eq!(
                forest.compile().top_marginals(rows.view(), PredictOptions { keep, beam: None }),
                all,
                "{shape:?}, {keep}"
            );
        }
    }
}

#[test]
fn marginals_of_a_row_do_not_depend_on_other_rows() {
    let (forest, rows) = forest(SHAPES[1]);
    let (compiled, options) = (forest.compile(), PredictOptions { keep: 9, beam: None });
    let mut one_by_one = TopMarginals::default();
    (0..70)
        .for_each(|row| one_by_one.append(&compiled.top_marginals(rows.view().slice(row..row + 1), options)));
    assert_eq!(one_by_one, compiled.top_marginals(rows.view(), options));
}

#[test]
fn ties_go_to_the_smaller_labels() {
    // All leaves are alike except for their labels.
    let leaves = 40;
    let forest = Forest {
        features: 1,
        labels: leaves,
        trees: 1,
        parents: [vec![NO_NODE], vec![0; leaves]].concat(),
        leaf_labels: std::iter::once(NO_NODE).chain((0..leaves as u32).rev()).collect(),
        units: vec![0, 1, 1 + leaves as u64],
        models: NodeModels {
            biases: [vec![f32::INFINITY], vec![-1.0; leaves]].concat(),
            starts: vec![0; leaves + 2],
            ..NodeModels::default()
        },
    };
    let empty = CsrBuilder { starts: vec![0, 0], ..CsrBuilder::default() };
    let kept = forest.compile().top_marginals(empty.view(), PredictOptions { keep: 3, beam: None });
    assert_eq!(kept.view().columns, [0, 1, 2]);
    assert_eq!(kept, naive_top_marginals(&forest, empty.view(), 3));
}

#[test]
fn a_beam_visits_the_most_probable_units() {
    let (forest, rows) = forest(SHAPES[1]);
    let compiled = forest.compile();
    let exact = compiled.top_marginals(rows.view(), PredictOptions { keep: 1, beam: None });
    let narrow = compiled.top_marginals(rows.view(), PredictOptions { keep: 1, beam: Some(1) });
    let wide = compiled.top_marginals(rows.view(), PredictOptions { keep: 1, beam: Some(1000) });
    assert_eq!(wide, exact);
    let alike = (0..70).filter(|&row| narrow.row(row).eq(exact.row(row))).count();
    // A random group of about eight would contain the best label in one row of eight.
    assert!((15..70).contains(&alike), "{alike} of 70");
    let largest = |kept: &TopMarginals, row| kept.row(row).map(|it| it.1).fold(0.0, f32::max);
    assert!((0..70).all(|row| largest(&narrow, row) <= largest(&exact, row)));
}

#[test]
fn marginals_are_probabilities() {
    let (forest, rows) = forest(SHAPES[1]);
    let kept = forest.compile().top_marginals(rows.view(), PredictOptions { keep: 53, beam: None });
    assert!(kept.view().values.iter().all(|&marginal| marginal > 0.0 && marginal <= 1.0));
    assert_eq!(kept.view().entries(), 70 * 53);
}

#[test]
fn a_forest_survives_its_file() {
    for shape in SHAPES {
        let (forest, _) = forest(shape);
        let mut file = ModelFile { features: 30, labels: 53, ..ModelFile::default() };
        forest.clone().put_into(&mut file);
        assert_eq!(Forest::from_file(&mut file), Ok(forest));
    }
}

#[test]
fn a_damaged_forest_is_refused() {
    type Damage = fn(&mut Forest);
    let damages: [(&str, Damage); 6] = [
        ("differ in length", |forest| forest.models.biases.truncate(3)),
        ("overlap", |forest| forest.units[1] = 9999),
        ("do not form trees", |forest| forest.parents[5] = 5),
        ("label out of range", |forest| *forest.leaf_labels.last_mut().unwrap() = 53),
        ("feature out of range", |forest| forest.models.columns[0] = 30),
        ("not finite", |forest| forest.models.weights[0] = f32::NAN),
    ];
    for (message, damage) in damages {
        let (mut forest, _) = forest(SHAPES[1]);
        damage(&mut forest);
        let mut file =
            ModelFile { estimator: "plt".into(), features: 30, labels: 53, ..ModelFile::default() };
        forest.put_into(&mut file);
        let error = Model::from_file(file, Path::new("a.model")).err().unwrap().to_string();
        assert!(error.contains(message) && error.starts_with("a.model: "), "{error}");
    }
}

#[test]
fn node_models_survive_encoding_and_other_bytes_are_refused() {
    let model = NodeModels {
        biases: vec![1.0, -2.0],
        starts: vec![0, 1, 3],
        columns: vec![4, 0, 9],
        weights: vec![0.5, 0.25, -1.0],
    };
    let bytes = model.encode();
    assert_eq!(NodeModels::decode(&bytes), Some(model));
    assert_eq!(NodeModels::decode(&bytes[..bytes.len() - 1]), None);
    assert_eq!(NodeModels::decode(&[]), None);
    assert_eq!(NodeModels::decode(&[255; 64]), None);
}
