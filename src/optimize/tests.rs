use super::*;
use crate::classifier::Candidates;
use crate::measure::Metric;
use crate::shard::{Marginals, Shard, Targets, Truth};
use crate::store::Csr;
use crate::synth::{Generator, Rows, Shape, make};
use crate::world::World;

fn shard() -> Shard {
    let (rows, labels) = (500, 300);
    let shape = Shape { instances: rows, labels, features: 50, nnz: 20, average_labels: 3.0, exponent: 1.0 };
    let made = make(&Generator::new(shape, 0), 0..rows, |_| ());
    let matrix =
        |part: Rows| Csr::new((rows as usize, labels as usize), part.indptr, part.indices, part.values);
    let marginals = Marginals::from(&matrix(made.marginals));
    let targets = Targets::Labels(Truth::new(matrix(made.labels), &marginals));
    Shard { rows: 0..rows, total_rows: rows, marginals, targets }
}

const DEFAULTS: Options = Options {
    k: 3,
    epsilon: 1e-9,
    candidates: Candidates::All,
    step: StepRule::Search,
    max_iterations: 50,
    tolerance: 1e-3,
    min_gain: 1e-6,
};

fn fit(metric: &str, options: Options) -> Fit {
    let (world, shard) = (World::alone(), shard());
    let population = population(&world, &shard);
    let metric = Metric::parse(metric).unwrap();
    let start = Initial::TopK;
    frank_wolfe(&world, &shard, &population, &metric, start, &options, |_, _, _| ()).unwrap().unwrap()
}

/// A search that is cut short may have stalled and gone on before; that it stalled is not why it ended.
#[test]
fn a_search_that_is_cut_says_so() {
    let metric = "hmean(macro-precision, macro-recall)";
    let whole = fit(metric, DEFAULTS);
    for max_iterations in 1..=8 {
        let cut = fit(metric, Options { max_iterations, ..DEFAULTS });
        assert!(cut.utility < whole.utility, "the search is too short for this test");
        assert_eq!(cut.stopped, Stop::Iterations, "after {max_iterations}");
        assert_eq!(cut.passes, max_iterations + 1, "the initial rule's pass counts too");
    }
}

#[test]
fn zero_tolerances_search_on_and_find_no_less() {
    for metric in ["macro-f1", "hmean(macro-precision, macro-recall)"] {
        let free = fit(metric, Options { tolerance: 0.0, min_gain: 0.0, ..DEFAULTS });
        let usual = fit(metric, DEFAULTS).utility;
        assert!(free.utility >= usual - 1e-9, "{metric}: {} against {usual}", free.utility);
    }
}

/// Theorem "Consistency of Frank-Wolfe": fixed steps converge for a concave metric.
#[test]
fn classic_steps_come_close_to_searched_ones_where_the_metric_is_concave() {
    let classic = fit("macro-recall", Options { step: StepRule::Classic, ..DEFAULTS });
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
    let population = population(&world, &shard);
    let metric = Metric::parse("macro-precision").unwrap();
    let first = fit("macro-precision", Options { max_iterations: 3, ..DEFAULTS });
    let start = Initial::Given(first.mixture.clone());
    let second =
        frank_wolfe(&world, &shard, &population, &metric, start, &DEFAULTS, |_, _, _| ()).unwrap().unwrap();
    assert!((second.initial_utility - first.utility).abs() < 1e-12);
    assert!(second.utility >= second.initial_utility);
}
