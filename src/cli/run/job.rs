//! From a job file to an experiment. Data files are checked later.

use std::path::PathBuf;

use clap::ValueEnum;

use super::clap_section::read_section;
use super::data::JobData;
use super::document::Document;
use super::item::Item;
use super::paths::PathResolver;
use super::problem::{Hint, Problem, Result};
use super::sections::{DEFAULTS, Sections};
use crate::classifier::BaselineStrategy;
use crate::cli::baseline::BaselineOptions;
use crate::cli::evaluate::EvaluateOptions;
use crate::cli::fit::options::FitOptions;
use crate::evaluate::{Evaluation, standard_metric_names};
use crate::experiment::{BaselineSettings, Experiment, FitTarget, StrategyChoice};
use crate::measure::Metric;
use crate::optimize::{FitConfig, InitialSource};
use crate::pipeline::EvaluateRequest;
use crate::suggest::nearest;

/// A job, with the items that the check of the data files needs.
pub(super) struct Job<'d> {
    pub experiment: Experiment,
    pub out: PathBuf,
    pub rows: JobData<'d>,
    /// Every value of `k`.
    pub budgets: Vec<(Item<'d>, usize)>,
    /// The key `init` if it names a file.
    pub init: Option<Item<'d>>,
}

/// Reads a job. `defaults` is the document of [`DEFAULTS`].
pub(super) fn read_job<'d>(
    document: &'d Document<'d>,
    defaults: &'d Document<'d>,
    resolver: &PathResolver,
) -> Result<Job<'d>> {
    let sections = Sections::find(document, defaults)?;
    let given = |key: &str| sections.top.item(key);
    let item =
        |key: &str| given(key).or_else(|| defaults.top().item(key)).expect("defaults.toml has every key");

    let budgets = item("k").list("[1, 3, 5]", |item| item.at_least(1).map(|k| k as usize))?;
    let metrics = item("metrics").list("[\"macro-f1\"]", read_metric)?;
    let choices = strategy_choices();
    let strategies = item("strategies").list("[\"frank-wolfe\", \"top-k\"]", |item| item.choice(&choices))?;
    let seeds = item("seeds").list("[0]", |item| item.at_least(0))?;
    let show = item("show").list("[\"macro-f1\"]", read_column)?;
    let out = PathBuf::from(resolver.resolve(&item("out"))?);

    let rows = JobData::read(&sections, resolver)?;
    let targets = read_targets(given("targets"), &rows)?;
    let fit = read_section::<FitOptions>(sections.fit)?;
    let (search, init) = resolve_initial(fit.config(), sections.fit.item("init"), resolver)?;
    if seeds.len() > 1 && search.initial != InitialSource::Random {
        let text = format!(
            "`seeds` has {} values, but init in [fit] is {:?}; several seeds need init = \"random\"",
            seeds.len(),
            fit.init
        );
        return Err(item("seeds").error(Problem::Inconsistent(text)));
    }
    if let Some((item, choice)) = strategies.iter().find(|(_, choice)| *choice != StrategyChoice::FrankWolfe)
        && rows.train.is_none()
        && !rows.fit.has_labels()
    {
        let text = format!(
            "`strategies` has \"{}\", which needs the label counts of `labels` in [data.train] or [data.fit]; add one of them",
            choice.name()
        );
        return Err(item.error(Problem::Inconsistent(text)));
    }
    let baseline = read_section::<BaselineOptions>(sections.baseline)?;
    let evaluate = read_section::<EvaluateOptions>(sections.evaluate)?.request();

    let metrics = values_of(metrics);
    let mut columns = values_of(show);
    if given("show").is_none() {
        let fitted = metrics.iter().map(|metric| metric.text().to_owned());
        let new: Vec<String> = fitted.filter(|name| !columns.contains(name)).collect();
        columns.extend(new);
    }
    let formulas = formulas(&columns, &metrics);
    let experiment = Experiment {
        fit: rows.fit.data.clone(),
        test: rows.test.data.clone(),
        train: rows.train.as_ref().map(|train| train.location.clone()),
        budgets: budgets.iter().map(|(_, k)| *k).collect(),
        metrics,
        strategies: values_of(strategies),
        targets,
        seeds: values_of(seeds),
        search,
        baselines: BaselineSettings { constants: baseline.constants(), candidates: baseline.candidates },
        evaluate: EvaluateRequest { evaluation: Evaluation { formulas, ..evaluate.evaluation }, ..evaluate },
        columns,
    };
    Ok(Job { experiment, out, rows, budgets, init })
}

fn values_of<A, B>(pairs: Vec<(A, B)>) -> Vec<B> {
    pairs.into_iter().map(|pair| pair.1).collect()
}

fn strategy_choices() -> Vec<(&'static str, StrategyChoice)> {
    let baselines =
        BaselineStrategy::value_variants().iter().map(|&strategy| StrategyChoice::Baseline(strategy));
    std::iter::once(StrategyChoice::FrankWolfe)
        .chain(baselines)
        .map(|choice| (choice.name(), choice))
        .collect()
}

fn read_metric(item: &Item<'_>) -> Result<Metric> {
    let (key, section) = item.key_and_section();
    Metric::parse(item.text()?).map_err(|fault| item.error(Problem::Formula { key, section, fault }))
}

fn is_scored(name: &str) -> bool {
    standard_metric_names().any(|known| known == name)
}

/// Reads the name of a column: a metric of evaluation, or a formula.
fn read_column(item: &Item<'_>) -> Result<String> {
    let text = item.text()?.trim();
    if is_scored(text) {
        return Ok(text.to_owned());
    }
    read_metric(item).map(|metric| metric.text().to_owned()).map_err(|error| {
        match nearest(text, standard_metric_names()) {
            None => error,
            Some((_, name)) => {
                item.invalid_with_hint("a metric of `macrok evaluate`, or a formula", Hint(Some(name)))
            }
        }
    })
}

/// The formulas that evaluation computes in addition to its standard metrics.
fn formulas(columns: &[String], metrics: &[Metric]) -> Vec<Metric> {
    let shown = columns.iter().filter_map(|name| Metric::parse(name).ok());
    let mut formulas: Vec<Metric> = Vec::new();
    for metric in shown.chain(metrics.iter().cloned()) {
        if !is_scored(metric.text()) && !formulas.contains(&metric) {
            formulas.push(metric);
        }
    }
    formulas
}

/// Reads the targets; the default is labels if there are any.
fn read_targets(given: Option<Item<'_>>, rows: &JobData<'_>) -> Result<Vec<FitTarget>> {
    let has_labels = rows.fit.has_labels();
    let Some(item) = given else {
        return Ok(vec![if has_labels { FitTarget::Labels } else { FitTarget::Expected }]);
    };
    let choices = [FitTarget::Labels, FitTarget::Expected].map(|target| (target.name(), target));
    let targets = item.list("[\"labels\"]", |item| item.choice(&choices))?;
    if let Some((item, _)) = targets.iter().find(|(_, target)| *target == FitTarget::Labels && !has_labels) {
        let text = "`targets` has \"labels\", but [data.fit] has no `labels`; add them, or write targets = [\"expected\"]";
        return Err(item.error(Problem::Inconsistent(text.into())));
    }
    Ok(values_of(targets))
}

/// Resolves the path of an initial classifier.
fn resolve_initial<'d>(
    search: FitConfig,
    item: Option<Item<'d>>,
    resolver: &PathResolver,
) -> Result<(FitConfig, Option<Item<'d>>)> {
    match (&search.initial, item) {
        (InitialSource::File(_), Some(item)) => {
            let initial = InitialSource::File(resolver.resolve(&item)?.into());
            Ok((FitConfig { initial, ..search }, Some(item)))
        }
        _ => Ok((search, None)),
    }
}

/// Returns the defaults as a document.
pub(super) fn defaults() -> Document<'static> {
    Document::parse("defaults.toml", DEFAULTS).expect("the defaults are TOML")
}
