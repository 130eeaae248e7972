//! Fits on real data against the results of the Python tool (xcolumns), which are stored with the data.
//! `../shared/data/README.md` says how they were made.

use std::path::PathBuf;

use macrok::classifier::{Candidates, Sampling};
use macrok::evaluate::{Evaluation, EvaluationMode, InversePropensities};
use macrok::job::StopControl;
use macrok::load::{LoadOptions, load_shard};
use macrok::measure::{Metric, Population};
use macrok::optimize::{
    Epsilon, FitData, FitProblem, FitResult, FrankWolfeOptions, InitialClassifier, StepRule,
};
use macrok::shard::Shard;
use macrok::store::{Location, Role};
use macrok::world::World;

use crate::common::real_data;

fn load(path: PathBuf) -> (Shard, Population) {
    let text = path.display().to_string();
    let world = World::alone();
    let options = LoadOptions {
        marginals: Location::parse(&text, Role::Marginals),
        labels: Some(Location::parse(&text, Role::Labels)),
        clamp: false,
    };
    let shard = load_shard(&world, &options).unwrap();
    let population = FitData::new(&world, &shard).population;
    (shard, population)
}

fn fit(shard: &Shard, metric: &str, k: usize, candidates: Candidates) -> FitResult {
    let options = FrankWolfeOptions {
        epsilon: Epsilon::Fixed(1e-9),
        candidates,
        step: StepRule::Search,
        max_iterations: 50,
        tolerance: 1e-3,
        min_gain: 1e-6,
    };
    let (world, metric) = (World::alone(), Metric::parse(metric).unwrap());
    let data = FitData::new(&world, shard);
    let problem = FitProblem { data: &data, metric: &metric, k, initial: InitialClassifier::TopK, options };
    macrok::optimize::fit(&world, problem, None, &StopControl::new(), &()).unwrap().fit.unwrap()
}

/// Checks the training utility for every metric and k: at least that of the Python tool, up to 1e-6.
fn at_least_the_python_tool(part: &str, results: &str, expected_fits: usize) {
    let (Some(part), Some(results)) = (real_data(part), real_data(results)) else { return };
    let results: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(results).unwrap()).unwrap();
    let (shard, _) = load(part);
    let fits = results["fit"].as_object().unwrap();
    assert_eq!(fits.len(), expected_fits);
    let mut worse = Vec::new();
    for (name, theirs) in fits {
        let (metric, k) = name.split_once('@').unwrap();
        let ours = fit(&shard, metric, k.parse().unwrap(), Candidates::Support).utility;
        let theirs = theirs["utility"].as_f64().unwrap();
        if ours < theirs * (1.0 - 1e-6) {
            worse.push(format!("{name}: {ours} against {theirs}"));
        }
    }
    assert!(worse.is_empty(), "worse than the Python tool: {worse:#?}");
}

#[test]
fn bibtex_utilities_are_at_least_the_python_tools() {
    at_least_the_python_tool("bibtex/train.h5", "bibtex/xcolumns.json", 32);
}

#[test]
fn delicious_utilities_are_at_least_the_python_tools() {
    at_least_the_python_tool("delicious/train.h5", "delicious/xcolumns.json", 32);
}

#[test]
fn eurlex_dev_utilities_are_at_least_the_python_tools() {
    at_least_the_python_tool("eurlex57k/dev.h5", "eurlex57k/xcolumns-dev.json", 32);
}

#[test]
fn eurlex_train_utilities_are_at_least_the_python_tools() {
    at_least_the_python_tool("eurlex57k/train.h5", "eurlex57k/xcolumns.json", 32);
}

/// In dev 1,756 labels have no positive. The Python tool gives them slope 1 / epsilon, so that they fill the budget, and
/// stops at top-k, with 0.2286 on dev and 0.2193 on test.
#[test]
fn labels_without_a_positive_do_not_stall_the_fit() {
    let (Some(dev), Some(test)) = (real_data("eurlex57k/dev.h5"), real_data("eurlex57k/test.h5")) else {
        return;
    };
    let (shard, population) = load(dev);
    let fit = fit(&shard, "macro-f1", 5, Candidates::All);
    assert!(population.positives.iter().filter(|&&positives| positives == 0).count() > 1000);
    assert!(fit.utility > 0.27, "dev macro-F1 {}", fit.utility);
    let (test, _) = load(test);
    let world = World::alone();
    let propensities = InversePropensities::new(&population.positives, population.rows, 0.55, 1.5);
    let mode = EvaluationMode::Drawn { sampling: Sampling::Rule, seed: 0, repeats: 10 };
    let evaluation = Evaluation { mode, epsilon: 1e-9, formulas: Vec::new() };
    let summary = evaluation.summary(&world, &test, &fit.mixture, &propensities, &()).unwrap();
    let found = summary.iter().find(|(name, _)| name == "macro-f1").unwrap();
    assert!(found.1.mean > 0.2193, "test macro-F1 {}", found.1.mean);
}

#[test]
fn the_reported_utility_is_that_of_the_returned_mixture() {
    let Some(path) = real_data("bibtex/train.h5") else { return };
    let (shard, population) = load(path);
    for metric in ["macro-precision", "macro-f1", "macro-gmean"] {
        let fit = fit(&shard, metric, 3, Candidates::All);
        let objective = Metric::parse(metric).unwrap().bind(3, 1e-9);
        let again = mixture_value(&shard, &population, &fit, |tensor| objective.value(tensor));
        assert!((again - fit.utility).abs() < 1e-12, "{metric}: {again} against {}", fit.utility);
        assert_eq!(fit.trajectory.last().unwrap().utility, fit.utility);
        assert!((fit.mixture.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

fn mixture_value(
    shard: &Shard,
    population: &Population,
    fit: &FitResult,
    value: impl Fn(&macrok::measure::ConfusionTensor) -> f64,
) -> f64 {
    let mixture = &fit.mixture;
    let count = |rule| macrok::classifier::count_predictions(shard, rule, mixture.k, mixture.candidates);
    let parts: Vec<macrok::measure::ConfusionTensor> = mixture
        .rules
        .iter()
        .map(|rule| macrok::measure::ConfusionTensor::new(&count(rule), population))
        .collect();
    let weighted: Vec<(f64, &macrok::measure::ConfusionTensor)> =
        mixture.weights.iter().copied().zip(&parts).collect();
    value(&macrok::measure::ConfusionTensor::scaled_sum(&weighted))
}
