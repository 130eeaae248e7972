//! Failures of the Python tool that `../shared/data/README.md` lists, as far as no other test shows them. `reference.rs`
//! tests labels without positives, `bad_input.rs` bad input, `ranks.rs` races, unit tests of the classifier zero marginals
//! and Madow's scheme, and `tests/python/test_failures.py` short rows and k = m.

use std::sync::Arc;

use macrok::classifier::{Candidates, Rule, count_predictions};
use macrok::job::StopControl;
use macrok::measure::Metric;
use macrok::optimize::{
    Epsilon, FitData, FitProblem, FitResult, FrankWolfeOptions, InitialClassifier, StepRule, best_step,
};
use macrok::shard::{FixedPoint, Marginals, Shard, Targets, TrueLabels};
use macrok::sparse::Csr;
use macrok::synth::{Generator, SynthShape, generate};
use macrok::world::World;

fn shard(rows: u64) -> Shard {
    let shape =
        SynthShape { instances: rows, labels: 60, features: 50, nnz: 20, average_labels: 3.0, exponent: 1.0 };
    let made = generate(&Generator::new(shape, 7), 0..rows, &());
    let marginals = Marginals::from(&made.marginals.finish(60));
    let targets = Targets::Labels(TrueLabels::new(made.labels.finish(60), &marginals));
    Shard { rows: 0..rows, total_rows: rows, marginals, targets }
}

fn fit(shard: &Shard, metric: &str) -> FitResult {
    let options = FrankWolfeOptions {
        epsilon: Epsilon::Fixed(1e-9),
        candidates: Candidates::All,
        step: StepRule::Search,
        max_iterations: 30,
        tolerance: 1e-3,
        min_gain: 1e-6,
    };
    let (world, metric) = (World::alone(), Metric::parse(metric).unwrap());
    let data = FitData::new(&world, shard);
    let problem =
        FitProblem { data: &data, metric: &metric, k: 3, initial: InitialClassifier::TopK, options };
    macrok::optimize::fit(&world, problem, None, &StopControl::new(), &()).unwrap().fit.unwrap()
}

/// The Python tool counts in f32, which stops at 2^24.
#[test]
fn counts_exceed_the_integers_of_f32() {
    let rows = (1usize << 24) + 5;
    let matrix = |values| Csr::new((rows, 2), (0..=rows).collect(), vec![1; rows], values);
    let marginals = Marginals::from(&matrix(vec![0.5; rows]));
    let targets = Targets::Labels(TrueLabels::new(matrix(vec![1.0; rows]), &marginals));
    let shard = Shard { rows: 0..rows as u64, total_rows: rows as u64, marginals, targets };
    let counts = count_predictions(&shard, &Rule::top_k(2), 1, Candidates::All);
    assert_eq!(counts.predicted, [0, rows as u64]);
    assert_eq!(counts.true_positives, [0, rows as u64]);
    let expected = Shard { targets: Targets::Expected(FixedPoint::for_terms(rows as u64)), ..shard };
    let counts = count_predictions(&expected, &Rule::top_k(2), 1, Candidates::All);
    assert_eq!(counts.true_positives[1], expected.count_unit() / 2 * rows as u64);
}

/// The derivative of G-mean is infinite at 0, which gives the Python tool slopes of NaN.
#[test]
fn gmean_has_finite_rules_and_improves() {
    let fit = fit(&shard(2000), "macro-gmean");
    let finite = |rule: &Arc<Rule>| rule.slopes.iter().chain(&rule.intercepts).all(|v| v.is_finite());
    assert!(fit.mixture.rules.iter().all(finite));
    assert!(fit.utility > fit.initial_utility + 0.01, "{} to {}", fit.initial_utility, fit.utility);
}

/// The Python tool maximises losses in its step search.
#[test]
fn a_loss_is_minimised_by_maximising_its_negative() {
    let shard = shard(2000);
    let fit = fit(&shard, "0 - macro(fn/(tp+fn))");
    let rising = fit.trajectory.windows(2).all(|pair| pair[0].utility <= pair[1].utility);
    assert!(rising && fit.utility > fit.initial_utility);
    let recall = self::fit(&shard, "macro-recall");
    assert!((fit.utility + 1.0 - recall.utility).abs() < 1e-6, "{} and {}", fit.utility, recall.utility);
}

/// The step sizes of the Python tool exclude 1, so it needs several rules for a linear metric.
#[test]
fn a_linear_metric_takes_one_full_step() {
    let fit = fit(&shard(2000), "macro-recall");
    assert_eq!(fit.trajectory[0].step, 1.0);
    assert_eq!(fit.mixture.rules.len(), 1);
    assert_eq!(best_step(|size| size).size, 1.0);
}
