//! Trees, solver and search against their definitions.

use std::path::Path;

use super::forest::{Forest, NO_NODE};
use super::options::{TreeOptions, TreeShape};
use super::positives::Positives;
use super::solver::{LaneTargets, LocalRows, solve};
use super::tree::Tree;
use super::tree_plan::{TreePlan, assemble_forest, grow_trees};
use super::unit_model::{UnitModel, train_unit};
use super::unit_rows::{ColumnScratch, TrainingSet, UnitRows};
use super::units::units_of;
use crate::estimate::{Model, PredictOptions, TopMarginals};
use crate::random::{Purpose, RandomSequence};
use crate::sparse::RowsView;
use crate::store::ModelFile;

const OPTIONS: TreeOptions = TreeOptions {
    shape: TreeShape::Trees { trees: 1, arity: 2, leaf_size: 6 },
    cost: 10.0,
    tolerance: 0.1,
    max_passes: 100,
    threshold: 0.01,
    seed: 3,
};

/// Sparse rows: where each begins, columns and values.
#[derive(Clone, Default)]
struct RandomRows {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl RandomRows {
    fn rows(&self) -> RowsView<'_> {
        RowsView::new(&self.starts, &self.columns, &self.values)
    }

    /// Each cell is there with the given chance.
    fn draw(count: usize, width: usize, chance: f64, seed: u64) -> RandomRows {
        let mut random = RandomSequence::new(seed, Purpose::SynthRow, 0);
        let mut made = RandomRows { starts: vec![0], ..RandomRows::default() };
        for _ in 0..count {
            for column in 0..width as u32 {
                if random.next_uniform() < chance {
                    made.columns.push(column);
                    made.values.push(random.next_uniform() as f32 + 0.1);
                }
            }
            made.starts.push(made.columns.len());
        }
        made
    }

    fn local(&self, width: usize) -> LocalRows {
        let RandomRows { starts, columns, values } = self.clone();
        LocalRows { starts, columns, values, width }
    }
}

/// The least of the objective, by descent in double precision: weights, and the bias behind them.
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
    // Nesterov's momentum, begun anew whenever it leads uphill.
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
    let made = RandomRows::draw(40, width, 0.4, 1);
    let mut random = RandomSequence::new(2, Purpose::SynthLabel, 0);
    // The last lane is no instance of every third row, and the first has no positive one.
    let targets: Vec<LaneTargets> = (0..40)
        .map(|row| LaneTargets {
            positive: (random.next_bits() & random.next_bits()) as u32 & 0b110,
            included: if row % 3 == 0 { 0b011 } else { 0b111 },
        })
        .collect();
    let options = TreeOptions { tolerance: 1e-6, max_passes: 5000, cost, ..OPTIONS };
    let found = solve::<4>(&made.local(width), &targets, &options, 0);
    for lane in 0..3 {
        let of_row = |row: usize| {
            let LaneTargets { positive, included } = targets[row];
            ((included >> lane) & 1 == 1).then_some((positive >> lane) & 1 == 1)
        };
        let best = descend(made.rows(), width, of_row, cost);
        let ours = (0..width).map(|column| found.weights[column][lane]).chain([found.biases[lane]]);
        for (column, (ours, best)) in ours.zip(best).enumerate() {
            assert!(
                (f64::from(ours) - best).abs() < 2e-3,
                "lane {lane}, column {column}: {ours} against {best}"
            );
        }
    }
    assert!(
        (0..width).all(|column| found.weights[column][3] == 0.0),
        "a lane that nobody uses has no weights"
    );
}

fn training_set<'d>(
    features: &'d RandomRows,
    width: usize,
    labels: &'d RandomRows,
    count: usize,
) -> TrainingSet<'d> {
    let positives = Positives::new(labels.rows(), count);
    TrainingSet { features: features.rows(), width, labels: labels.rows(), positives }
}

fn trained(training_set: &TrainingSet<'_>, count: usize, options: &TreeOptions) -> Forest {
    let planned: Vec<TreePlan> =
        grow_trees(training_set, options).into_iter().map(|tree| TreePlan::new(tree, count)).collect();
    let mut models = Vec::new();
    for planned in &planned {
        models.push(UnitModel::always_reached());
        for (number, unit) in planned.units.iter().enumerate() {
            let rows = training_set.positives.rows_of_any(planned.labels_below(unit.root));
            let rows =
                UnitRows::gather(training_set, planned, unit.root, &rows, &mut ColumnScratch::default());
            models.push(train_unit(&rows, &planned.tree, unit, options, number as u64));
        }
    }
    assemble_forest(&planned, training_set.width, &models)
}

fn forest(shape: TreeShape) -> (Forest, RandomRows) {
    let (width, count) = (30, 53);
    let (features, labels) = (RandomRows::draw(200, width, 0.3, 4), RandomRows::draw(200, count, 0.05, 5));
    let options = TreeOptions { shape, ..OPTIONS };
    (
        trained(&training_set(&features, width, &labels, count), count, &options),
        RandomRows::draw(70, width, 0.3, 6),
    )
}

#[test]
fn every_label_is_once_in_a_tree_and_parts_are_of_the_same_size() {
    let (features, labels) = (RandomRows::draw(300, 20, 0.3, 7), RandomRows::draw(300, 101, 0.05, 8));
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
fn labels_that_occur_together_are_below_the_same_node() {
    // Rows of two kinds, which share no feature and no label.
    let (mut features, mut labels) =
        (RandomRows { starts: vec![0], ..RandomRows::default() }, RandomRows::default());
    labels.starts.push(0);
    let mut random = RandomSequence::new(9, Purpose::SynthRow, 0);
    for row in 0..200u32 {
        let kind = row % 2;
        for at in 0..4 {
            features.columns.push(10 * kind + 2 * at + (random.next_bits() % 2) as u32);
            features.values.push(1.0);
        }
        features.starts.push(features.columns.len());
        labels.columns.push(2 * ((random.next_bits() % 8) as u32) + kind);
        labels.values.push(1.0);
        labels.starts.push(labels.columns.len());
    }
    let trees = grow_trees(&training_set(&features, 20, &labels, 16), &OPTIONS);
    let kinds: Vec<Vec<u32>> =
        trees[0].labels.chunks(8).map(|half| half.iter().map(|label| label % 2).collect()).collect();
    assert!(kinds.iter().all(|half| half.iter().all(|&kind| kind == half[0])), "{kinds:?}");
}

#[test]
fn every_node_is_in_one_unit_below_its_parent() {
    let (features, labels) = (RandomRows::draw(300, 20, 0.3, 7), RandomRows::draw(300, 101, 0.05, 8));
    let training_set = training_set(&features, 20, &labels, 101);
    for (arity, leaf_size) in [(2, 6), (2, 1), (4, 3), (32, 2)] {
        let shape = TreeShape::Trees { trees: 1, arity, leaf_size };
        let tree = &grow_trees(&training_set, &TreeOptions { shape, ..OPTIONS })[0];
        let mut seen = vec![0];
        for unit in units_of(tree) {
            assert!(seen.contains(&unit.root), "what is above a unit comes before it");
            for node in unit.nodes {
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
fn the_search_finds_what_looking_at_every_label_finds() {
    for shape in SHAPES {
        let (forest, rows) = forest(shape);
        for keep in [1, 2, 7, 53, 200] {
            let all = forest.top_marginals_naive(rows.rows(), keep);
            assert_eq!(
                forest.compile().top_marginals(rows.rows(), PredictOptions { keep, beam: None }),
                all,
                "{shape:?}, {keep}"
            );
        }
    }
}

#[test]
fn a_row_is_answered_alike_among_any_others() {
    let (forest, rows) = forest(SHAPES[1]);
    let (compiled, options) = (forest.compile(), PredictOptions { keep: 9, beam: None });
    let mut one_by_one = TopMarginals::default();
    (0..70)
        .for_each(|row| one_by_one.append(&compiled.top_marginals(rows.rows().slice(row..row + 1), options)));
    assert_eq!(one_by_one, compiled.top_marginals(rows.rows(), options));
}

#[test]
fn ties_go_to_the_smaller_labels() {
    // All leaves alike: nothing but the label tells them apart.
    let leaves = 40;
    let forest = Forest {
        features: 1,
        labels: leaves,
        trees: 1,
        parents: [vec![NO_NODE], vec![0; leaves]].concat(),
        leaf_labels: std::iter::once(NO_NODE).chain((0..leaves as u32).rev()).collect(),
        units: vec![0, 1, 1 + leaves as u64],
        biases: [vec![f32::INFINITY], vec![-1.0; leaves]].concat(),
        starts: vec![0; leaves + 2],
        columns: Vec::new(),
        weights: Vec::new(),
    };
    let empty = RandomRows { starts: vec![0, 0], ..RandomRows::default() };
    let kept = forest.compile().top_marginals(empty.rows(), PredictOptions { keep: 3, beam: None });
    assert_eq!(kept.view().columns, [0, 1, 2]);
    assert_eq!(kept, forest.top_marginals_naive(empty.rows(), 3));
}

#[test]
fn a_beam_looks_at_the_most_probable_labels() {
    let (forest, rows) = forest(SHAPES[1]);
    let compiled = forest.compile();
    let exact = compiled.top_marginals(rows.rows(), PredictOptions { keep: 1, beam: None });
    let narrow = compiled.top_marginals(rows.rows(), PredictOptions { keep: 1, beam: Some(1) });
    let wide = compiled.top_marginals(rows.rows(), PredictOptions { keep: 1, beam: Some(1000) });
    assert_eq!(wide, exact);
    let alike = (0..70).filter(|&row| narrow.row(row).eq(exact.row(row))).count();
    // Of eight groups or so, chance would find one in eight; but what is found is never more than there is.
    assert!((15..70).contains(&alike), "{alike} of 70");
    let largest = |kept: &TopMarginals, row| kept.row(row).map(|it| it.1).fold(0.0, f32::max);
    assert!((0..70).all(|row| largest(&narrow, row) <= largest(&exact, row)));
}

#[test]
fn marginals_are_products_of_probabilities() {
    let (forest, rows) = forest(SHAPES[1]);
    let kept = forest.compile().top_marginals(rows.rows(), PredictOptions { keep: 53, beam: None });
    assert!(kept.view().values.iter().all(|&marginal| marginal > 0.0 && marginal <= 1.0));
    assert_eq!(kept.view().columns.len(), 70 * 53);
}

#[test]
fn a_forest_comes_back_from_its_file_as_it_was() {
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
        ("differ in length", |forest| forest.biases.truncate(3)),
        ("overlap", |forest| forest.units[1] = 9999),
        ("not those of trees", |forest| forest.parents[5] = 5),
        ("label that there is not", |forest| *forest.leaf_labels.last_mut().unwrap() = 53),
        ("feature that there is not", |forest| forest.columns[0] = 30),
        ("not a finite number", |forest| forest.weights[0] = f32::NAN),
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
fn a_unit_comes_back_from_its_bytes_and_nothing_else_does() {
    let model = UnitModel {
        biases: vec![1.0, -2.0],
        starts: vec![0, 1, 3],
        columns: vec![4, 0, 9],
        weights: vec![0.5, 0.25, -1.0],
    };
    let bytes = model.encode();
    assert_eq!(UnitModel::decode(&bytes), Some(model));
    assert_eq!(UnitModel::decode(&bytes[..bytes.len() - 1]), None);
    assert_eq!(UnitModel::decode(&[]), None);
    assert_eq!(UnitModel::decode(&[255; 64]), None);
}
