use super::checkpoint_codec::RestoreInputs;
use super::column_space::ColumnSpace;
use super::*;
use crate::classifier::{Candidates, count_predictions};
use crate::measure::{ConfusionTensor, Metric};
use crate::shard::{Marginals, Shard, Targets, TrueLabels};
use crate::sparse::Csr;
use crate::synth::{Generator, MatrixRows, SynthShape, generate};
use crate::world::World;

fn shard() -> Shard {
    shard_of(500, 300)
}

fn shard_of(rows: u64, labels: u32) -> Shard {
    let shape =
        SynthShape { instances: rows, labels, features: 50, nnz: 20, average_labels: 3.0, exponent: 1.0 };
    let made = generate(&Generator::new(shape, 0), 0..rows, |_| ());
    let matrix =
        |part: MatrixRows| Csr::new((rows as usize, labels as usize), part.indptr, part.indices, part.values);
    let marginals = Marginals::from(&matrix(made.marginals));
    let targets = Targets::Labels(TrueLabels::new(matrix(made.labels), &marginals));
    Shard { rows: 0..rows, total_rows: rows, marginals, targets }
}

const DEFAULTS: FrankWolfeOptions = FrankWolfeOptions {
    k: 3,
    epsilon: 1e-9,
    candidates: Candidates::All,
    step: StepRule::Search,
    max_iterations: 50,
    tolerance: 1e-3,
    min_gain: 1e-6,
};

fn fit(metric: &str, options: FrankWolfeOptions) -> FitResult {
    let (world, shard) = (World::alone(), shard());
    let population = count_population(&world, &shard);
    let metric = Metric::parse(metric).unwrap();
    let start = InitialClassifier::TopK;
    frank_wolfe(&world, &shard, &population, &metric, Start::New(start), &options, &mut ()).unwrap().unwrap()
}

/// A search that is cut short may have stalled and gone on before; that it stalled is not why it ended.
#[test]
fn a_search_that_is_cut_says_so() {
    let metric = "hmean(macro-precision, macro-recall)";
    let whole = fit(metric, DEFAULTS);
    for max_iterations in 1..=8 {
        let cut = fit(metric, FrankWolfeOptions { max_iterations, ..DEFAULTS });
        assert!(cut.utility < whole.utility, "the search is too short for this test");
        assert_eq!(cut.stopped, EndReason::Iterations, "after {max_iterations}");
        assert_eq!(cut.passes, max_iterations + 1, "the initial rule's pass counts too");
    }
}

#[test]
fn zero_tolerances_search_on_and_find_no_less() {
    for metric in ["macro-f1", "hmean(macro-precision, macro-recall)"] {
        let free = fit(metric, FrankWolfeOptions { tolerance: 0.0, min_gain: 0.0, ..DEFAULTS });
        let usual = fit(metric, DEFAULTS).utility;
        assert!(free.utility >= usual - 1e-9, "{metric}: {} against {usual}", free.utility);
    }
}

/// Theorem "Consistency of Frank-Wolfe": fixed steps converge for a concave metric.
#[test]
fn classic_steps_come_close_to_searched_ones_where_the_metric_is_concave() {
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
fn starting_where_another_fit_ended_does_not_lose() {
    let (world, shard) = (World::alone(), shard());
    let population = count_population(&world, &shard);
    let metric = Metric::parse("macro-precision").unwrap();
    let first = fit("macro-precision", FrankWolfeOptions { max_iterations: 3, ..DEFAULTS });
    let start = InitialClassifier::Given(first.mixture.clone());
    let start = Start::New(start);
    let second =
        frank_wolfe(&world, &shard, &population, &metric, start, &DEFAULTS, &mut ()).unwrap().unwrap();
    assert!((second.initial_utility - first.utility).abs() < 1e-12);
    assert!(second.utility >= second.initial_utility);
}

/// Ends a search before an iteration, and keeps where it stood.
struct Cut {
    before: usize,
    stood: Option<(IterationCursor, FitState)>,
}

impl LoopHooks for Cut {
    fn saves_checkpoints(&self) -> bool {
        true
    }

    fn before_iteration(
        &mut self,
        cursor: IterationCursor,
        state: Option<&FitState>,
    ) -> crate::error::Result<()> {
        if cursor.iteration < self.before {
            return Ok(());
        }
        self.stood = state.map(|state| (cursor, state.clone()));
        Err(crate::error::Error::Stopped("cut".into()))
    }
}

#[test]
fn a_search_that_goes_on_from_what_was_saved_comes_to_the_same_bits() {
    let (world, shard) = (World::alone(), shard());
    let population = count_population(&world, &shard);
    // One that stalls on the way, and asks smoothed gradients; one that takes fixed steps.
    for (metric, step) in
        [("hmean(macro-precision, macro-recall)", StepRule::Search), ("macro-f1", StepRule::Classic)]
    {
        let options = FrankWolfeOptions { step, max_iterations: 12, min_gain: 0.0, ..DEFAULTS };
        let metric = Metric::parse(metric).unwrap();
        let run = |start, hooks: &mut dyn LoopHooks| {
            frank_wolfe(&world, &shard, &population, &metric, start, &options, hooks)
        };
        let whole = run(Start::New(InitialClassifier::Random { seed: 3 }), &mut ()).unwrap().unwrap();
        for before in 0..12 {
            let mut cut = Cut { before, stood: None };
            run(Start::New(InitialClassifier::Random { seed: 3 }), &mut cut).unwrap_err();
            let (cursor, state) = cut.stood.unwrap();
            let snapshot = super::checkpoint_codec::to_snapshot(cursor, &state);
            let lasting: Vec<Vec<u8>> = snapshot.lasting.iter().map(|part| part.pieces().concat()).collect();
            let initial = &InitialClassifier::Random { seed: 3 };
            let (marginals, population) = (&shard.marginals, &population);
            let inputs = RestoreInputs { marginals, metric: &metric, initial, population, options: &options };
            let (cursor_again, state_again) = inputs.restore(lasting.clone(), &snapshot.fresh).unwrap();
            assert_eq!((cursor_again, &state_again), (cursor, &state));
            let other: Vec<Vec<u8>> = lasting.iter().rev().cloned().collect();
            assert!(other == lasting || inputs.restore(other, &snapshot.fresh).is_none(), "another way");
            let shorter = lasting[..lasting.len() - 1].to_vec();
            assert!(inputs.restore(shorter, &snapshot.fresh).is_none(), "a step is missing");
            let start = Start::Resumed(cursor_again, Some(Box::new(state_again)));
            let resumed = run(start, &mut ()).unwrap().unwrap();
            assert_eq!(resumed.mixture, whole.mixture, "cut before {before}");
            assert_eq!(resumed.utility.to_bits(), whole.utility.to_bits());
            assert_eq!((resumed.gap.to_bits(), resumed.stopped), (whole.gap.to_bits(), whole.stopped));
            assert_eq!((resumed.passes, resumed.trajectory.len()), (whole.passes, whole.trajectory.len()));
        }
    }
}

/// The facts of some rows of the data of [`shard`], after a change.
fn fingerprint_of(change: impl FnOnce(&mut Csr, &mut Csr)) -> String {
    let (rows, labels) = (500, 300);
    let shape =
        SynthShape { instances: rows, labels, features: 50, nnz: 20, average_labels: 3.0, exponent: 1.0 };
    let made = generate(&Generator::new(shape, 0), 0..rows, |_| ());
    let matrix =
        |part: MatrixRows| Csr::new((rows as usize, labels as usize), part.indptr, part.indices, part.values);
    let (mut marginals, mut true_labels) = (matrix(made.marginals), matrix(made.labels));
    change(&mut marginals, &mut true_labels);
    let marginals = Marginals::from(&marginals);
    let targets = Targets::Labels(TrueLabels::new(true_labels, &marginals));
    let shard = Shard { rows: 0..rows, total_rows: rows, marginals, targets };
    FitData::new(&World::alone(), &shard).fingerprint().to_text()
}

#[test]
fn data_that_differ_in_one_bit_are_told_apart() {
    let same = fingerprint_of(|_, _| ());
    assert_eq!(same, fingerprint_of(|_, _| ()));
    let other = fingerprint_of(|marginals, _| {
        let value = &mut marginals.data_mut()[4321];
        *value = value.next_down();
    });
    assert_ne!(same, other);
    // The same number of labels in the same places, but for two rows that change theirs.
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

/// So many labels that passes have them in another order, of which most are never seen.
#[test]
fn a_search_in_the_order_of_passes_finds_rules_by_label() {
    let (world, shard) = (World::alone(), shard_of(400, 40_000));
    let names = shard.marginals.labels_by_column().expect("labels in another order");
    assert!(!names.is_sorted());
    let population = count_population(&world, &shard);
    let unseen = |label: usize| population.positives[label] == 0;
    for metric in ["macro-f1", "macro-balanced-accuracy", "hmean(macro-precision, macro-recall)"] {
        let metric = Metric::parse(metric).unwrap();
        let options = FrankWolfeOptions { max_iterations: 6, min_gain: 0.0, tolerance: 0.0, ..DEFAULTS };
        let initial = InitialClassifier::Random { seed: 5 };
        let start = Start::New(initial.clone());
        let mut cut = Cut { before: 1, stood: None };
        let fit =
            frank_wolfe(&world, &shard, &population, &metric, start, &options, &mut ()).unwrap().unwrap();
        let objective = metric.bind(options.k, options.epsilon);
        // The same numbers label by label, from rules that are complete.
        let tensors: Vec<ConfusionTensor> = fit
            .mixture
            .rules
            .iter()
            .map(|rule| {
                ConfusionTensor::new(
                    &count_predictions(&shard, rule, options.k, options.candidates),
                    &population,
                )
            })
            .collect();
        let weighted: Vec<(f64, &ConfusionTensor)> =
            fit.mixture.weights.iter().copied().zip(&tensors).collect();
        let value = objective.value(&ConfusionTensor::scaled_sum(&weighted));
        assert!((value - fit.utility).abs() < 1e-12, "{}: {value} is not {}", metric.text(), fit.utility);
        assert!(!fit.trajectory.is_empty(), "{}: the start alone says little", metric.text());
        if objective.ignores_labels_without_positives() {
            let column_space =
                ColumnSpace::new(&shard.marginals, &population, &metric, options.k, &[options.epsilon]);
            assert!(column_space.column_count() < 40_000, "{}: nothing is left out", metric.text());
            for rule in &fit.mixture.rules[1..] {
                let all = rule.slopes.iter().zip(&rule.intercepts).enumerate();
                let left_out = all.filter(|(label, _)| unseen(*label));
                assert!(left_out.map(|(_, pair)| pair).all(|pair| pair == (&1e-30, &0.0)));
            }
        }
        // And what is saved on the way leads to the same place.
        let start = Start::New(initial.clone());
        assert!(frank_wolfe(&world, &shard, &population, &metric, start, &options, &mut cut).is_err());
        let (cursor, state) = cut.stood.unwrap();
        let snapshot = super::checkpoint_codec::to_snapshot(cursor, &state);
        let lasting = snapshot.lasting.iter().map(|part| part.pieces().concat()).collect();
        let (marginals, initial, population) = (&shard.marginals, &initial, &population);
        let inputs = RestoreInputs { marginals, metric: &metric, initial, population, options: &options };
        let (cursor_again, state_again) = inputs.restore(lasting, &snapshot.fresh).unwrap();
        assert_eq!((cursor_again, &state_again), (cursor, &state));
    }
}
