use std::sync::Mutex;

use super::column_space::ColumnSpace;
use super::frank_wolfe::FrankWolfe;
use super::*;
use crate::checkpoint::SavedParts;
use crate::classifier::{Candidates, count_predictions};
use crate::job::StopControl;
use crate::measure::{ConfusionTensor, Metric};
use crate::progress::Progress;
use crate::shard::{Marginals, Shard, Targets, TrueLabels};
use crate::sparse::Csr;
use crate::synth::{Generator, SynthShape, generate};
use crate::world::World;

fn shard() -> Shard {
    shard_of(500, 300)
}

fn shard_of(rows: u64, labels: u32) -> Shard {
    let shape =
        SynthShape { instances: rows, labels, features: 50, nnz: 20, average_labels: 3.0, exponent: 1.0 };
    let made = generate(&Generator::new(shape, 0), 0..rows, &());
    let labels = labels as usize;
    let marginals = Marginals::from(&made.marginals.finish(labels));
    let targets = Targets::Labels(TrueLabels::new(made.labels.finish(labels), &marginals));
    Shard { rows: 0..rows, total_rows: rows, marginals, targets }
}

const K: usize = 3;

const DEFAULTS: FrankWolfeOptions = FrankWolfeOptions {
    epsilon: Epsilon::Fixed(1e-9),
    candidates: Candidates::All,
    step: StepRule::Search,
    max_iterations: 50,
    tolerance: 1e-3,
    min_gain: 1e-6,
};

fn fit(metric: &str, options: FrankWolfeOptions) -> FitResult {
    fit_from(InitialClassifier::TopK, metric, options)
}

fn fit_from(initial: InitialClassifier, metric: &str, options: FrankWolfeOptions) -> FitResult {
    let (world, shard) = (World::alone(), shard());
    let (data, metric) = (FitData::new(&world, &shard), Metric::parse(metric).unwrap());
    let problem = FitProblem { data: &data, metric: &metric, k: K, initial, options };
    super::fit(&world, problem, None, &StopControl::new(), &()).unwrap().fit.unwrap()
}

/// A search may have stalled and recovered before it reached the limit; the stall is not why it ended.
#[test]
fn reports_the_limit_of_iterations_after_a_stall() {
    let metric = "hmean(macro-precision, macro-recall)";
    let whole = fit(metric, DEFAULTS);
    for max_iterations in 1..=8 {
        let cut = fit(metric, FrankWolfeOptions { max_iterations, ..DEFAULTS });
        assert!(cut.utility < whole.utility, "the search is too short for this test");
        assert_eq!(cut.end.reason, EndReason::Iterations, "after {max_iterations}");
        assert_eq!(cut.passes, max_iterations + 1, "the initial rule's pass counts too");
    }
}

/// Keeps the table of a fit.
#[derive(Default)]
struct Table(Mutex<Vec<String>>);

impl Progress for Table {
    fn row(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_owned());
    }
}

#[test]
fn the_last_rows_of_the_table_show_the_number_that_ended_the_fit() {
    let (world, shard) = (World::alone(), shard());
    let (data, metric) = (FitData::new(&world, &shard), Metric::parse("macro-f1").unwrap());
    let problem = FitProblem {
        data: &data,
        metric: &metric,
        k: K,
        initial: InitialClassifier::TopK,
        options: DEFAULTS,
    };
    let table = Table::default();
    let fit = super::fit(&world, problem, None, &StopControl::new(), &table).unwrap().fit.unwrap();
    assert_eq!((fit.end.reason, fit.end.value), (EndReason::Gap, fit.gap));
    assert!(fit.gap < DEFAULTS.min_gain);
    let rows = table.0.into_inner().unwrap();
    let not_taken: Vec<&String> = rows.iter().filter(|row| row.starts_with("not taken")).collect();
    assert_eq!(not_taken.len(), fit.passes - 1 - fit.trajectory.len(), "{rows:#?}");
    let gap = format!("{:.2e}", fit.gap);
    assert!(not_taken[not_taken.len() - 3].contains(&gap), "the metric's own gradient: {rows:#?}");
    assert!(fit.end.description(&DEFAULTS).contains(&gap));
}

#[test]
fn finds_no_less_with_zero_tolerances() {
    for metric in ["macro-f1", "hmean(macro-precision, macro-recall)"] {
        let free = fit(metric, FrankWolfeOptions { tolerance: 0.0, min_gain: 0.0, ..DEFAULTS });
        let usual = fit(metric, DEFAULTS).utility;
        assert!(free.utility >= usual - 1e-9, "{metric}: {} against {usual}", free.utility);
    }
}

/// Theorem 5.1: fixed steps converge for a concave metric.
#[test]
fn classic_steps_come_close_to_searched_ones_for_a_concave_metric() {
    let classic = fit("macro-recall", FrankWolfeOptions { step: StepRule::Classic, ..DEFAULTS });
    let searched = fit("macro-recall", DEFAULTS);
    assert!((classic.utility - searched.utility).abs() < 1e-9);
    assert_eq!(classic.trajectory[0].step, 1.0);
}

#[test]
fn searched_steps_never_lose() {
    for metric in ["macro-precision", "macro-gmean", "coverage", "min-labels(recall)", "micro-f1"] {
        let fit = fit(metric, DEFAULTS);
        let mut before = fit.initial_utility;
        for done in &fit.trajectory {
            assert!(done.utility > before, "{metric}: {} after {before}", done.utility);
            before = done.utility;
        }
        assert_eq!(before, fit.utility);
    }
}

#[test]
fn starting_from_the_result_of_another_fit_does_not_lose() {
    let first = fit("macro-precision", FrankWolfeOptions { max_iterations: 3, ..DEFAULTS });
    let second = fit_from(InitialClassifier::Given(first.mixture.clone()), "macro-precision", DEFAULTS);
    assert!((second.initial_utility - first.utility).abs() < 1e-12);
    assert!(second.utility >= second.initial_utility);
}

/// The search after some iterations, with all that a checkpoint takes.
fn interrupted<'a>(world: &'a World, problem: &'a FitProblem<'a>, iterations: usize) -> FrankWolfe<'a> {
    let mut search = FrankWolfe::start(world, problem, None, true).unwrap();
    for _ in 0..iterations {
        assert!(!search.is_finished());
        search.iterate(&()).unwrap();
    }
    search
}

/// The parts that a checkpoint of the search holds.
fn saved(search: &FrankWolfe<'_>) -> SavedParts {
    let snapshot = search.to_snapshot(Vec::new());
    let lasting = snapshot.lasting.iter().map(|part| part.pieces().concat()).collect();
    SavedParts { file: "fit.checkpoint".into(), lasting, fresh: snapshot.fresh }
}

/// Resumes a search and checks that it is where the other one is.
fn resumed<'a>(world: &'a World, problem: &'a FitProblem<'a>, before: &FrankWolfe<'_>) -> FrankWolfe<'a> {
    let search = FrankWolfe::start(world, problem, Some(saved(before)), true).unwrap();
    assert!(search.resumed);
    assert_eq!(search.cursor, before.cursor);
    assert_eq!(search.solver.as_ref().unwrap().state, before.solver.as_ref().unwrap().state);
    search
}

fn finished(mut search: FrankWolfe<'_>) -> FitResult {
    while !search.is_finished() {
        search.iterate(&()).unwrap();
    }
    search.finish(&()).unwrap()
}

#[test]
fn resumes_from_any_iteration_to_the_same_bits() {
    let (world, shard) = (World::alone(), shard());
    let data = FitData::new(&world, &shard);
    // One search stalls on the way and tries smoothed gradients; one takes fixed steps.
    for (metric, step) in
        [("hmean(macro-precision, macro-recall)", StepRule::Search), ("macro-f1", StepRule::Classic)]
    {
        let options = FrankWolfeOptions { step, max_iterations: 12, min_gain: 0.0, ..DEFAULTS };
        let metric = &Metric::parse(metric).unwrap();
        let problem =
            FitProblem { data: &data, metric, k: K, initial: InitialClassifier::Random { seed: 3 }, options };
        let whole = finished(interrupted(&world, &problem, 0));
        for before in 0..12 {
            let search = interrupted(&world, &problem, before);
            let mut parts = saved(&search);
            parts.lasting.reverse();
            let reordered = parts.lasting != saved(&search).lasting;
            let other = FrankWolfe::start(&world, &problem, Some(parts), true);
            assert_eq!(other.is_err(), reordered, "steps in another order");
            let mut parts = saved(&search);
            parts.lasting.pop();
            assert!(FrankWolfe::start(&world, &problem, Some(parts), true).is_err(), "a step is missing");
            let resumed = finished(resumed(&world, &problem, &search));
            assert_eq!(resumed.mixture, whole.mixture, "stopped before {before}");
            assert_eq!(resumed.utility.to_bits(), whole.utility.to_bits());
            assert_eq!((resumed.gap.to_bits(), resumed.end), (whole.gap.to_bits(), whole.end));
            assert_eq!((resumed.passes, resumed.trajectory.len()), (whole.passes, whole.trajectory.len()));
        }
    }
}

/// Returns the fingerprint of the data of [`shard`] after a change.
fn fingerprint_of(change: impl FnOnce(&mut Csr, &mut Csr)) -> String {
    let (rows, labels) = (500, 300);
    let shape =
        SynthShape { instances: rows, labels, features: 50, nnz: 20, average_labels: 3.0, exponent: 1.0 };
    let made = generate(&Generator::new(shape, 0), 0..rows, &());
    let (mut marginals, mut true_labels) =
        (made.marginals.finish(labels as usize), made.labels.finish(labels as usize));
    change(&mut marginals, &mut true_labels);
    let marginals = Marginals::from(&marginals);
    let targets = Targets::Labels(TrueLabels::new(true_labels, &marginals));
    let shard = Shard { rows: 0..rows, total_rows: rows, marginals, targets };
    FitData::new(&World::alone(), &shard).fingerprint().to_text()
}

#[test]
fn fingerprints_differ_when_one_bit_of_the_data_does() {
    let same = fingerprint_of(|_, _| ());
    assert_eq!(same, fingerprint_of(|_, _| ()));
    let other = fingerprint_of(|marginals, _| {
        let value = &mut marginals.data_mut()[4321];
        *value = value.next_down();
    });
    assert_ne!(same, other);
    // Two rows exchange their labels, which are as many.
    let swapped = fingerprint_of(|_, true_labels| {
        let rows: Vec<Vec<u32>> = true_labels.outer_iterator().map(|row| row.indices().to_vec()).collect();
        let other = (1..rows.len()).find(|&row| rows[row].len() == rows[0].len() && rows[row] != rows[0]);
        let mut rows = rows;
        rows.swap(0, other.unwrap());
        let (indptr, values) = (true_labels.indptr().raw_storage().to_vec(), true_labels.data().to_vec());
        *true_labels = Csr::new((500, 300), indptr, rows.concat(), values);
    });
    assert_ne!(same, swapped);
}

/// With this many labels, most of them never seen, columns are in another order than labels.
#[test]
fn finds_rules_by_label_where_columns_are_in_another_order() {
    let (world, shard) = (World::alone(), shard_of(400, 40_000));
    let names = shard.marginals.labels_by_column().expect("labels in another order");
    assert!(!names.is_sorted());
    let data = FitData::new(&world, &shard);
    let population = &data.population;
    for metric in ["macro-f1", "macro-balanced-accuracy", "hmean(macro-precision, macro-recall)"] {
        let metric = &Metric::parse(metric).unwrap();
        let options = FrankWolfeOptions { max_iterations: 6, min_gain: 0.0, tolerance: 0.0, ..DEFAULTS };
        let problem =
            FitProblem { data: &data, metric, k: K, initial: InitialClassifier::Random { seed: 5 }, options };
        let fit = finished(interrupted(&world, &problem, 0));
        let objective = metric.bind(K, 1e-9);
        let count = |rule| count_predictions(&shard, rule, K, options.candidates);
        let tensors: Vec<ConfusionTensor> =
            fit.mixture.rules.iter().map(|rule| ConfusionTensor::new(&count(rule), population)).collect();
        let weighted: Vec<(f64, &ConfusionTensor)> =
            fit.mixture.weights.iter().copied().zip(&tensors).collect();
        let value = objective.value(&ConfusionTensor::scaled_sum(&weighted));
        assert!((value - fit.utility).abs() < 1e-12, "{}: {value} is not {}", metric.text(), fit.utility);
        assert!(!fit.trajectory.is_empty(), "{}: the start alone proves little", metric.text());
        if objective.ignores_labels_without_positives() {
            let column_space = ColumnSpace::new(&shard.marginals, population, metric, K, &[1e-9]);
            assert!(column_space.columns < 40_000, "{}: no label is left out", metric.text());
            for rule in &fit.mixture.rules[1..] {
                let all = rule.slopes.iter().zip(&rule.intercepts).enumerate();
                let left_out = all.filter(|(label, _)| population.positives[*label] == 0);
                assert!(left_out.map(|(_, pair)| pair).all(|pair| pair == (&1e-30, &0.0)));
            }
        }
        resumed(&world, &problem, &interrupted(&world, &problem, 1));
    }
}
