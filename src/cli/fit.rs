//! `macrok fit`: Frank-Wolfe.

use std::path::PathBuf;

use serde_json::json;

use super::common::{Context, Loads, to_file, to_mixture};
use crate::classifier::{Candidates, Kernel, Mixture};
use crate::error::{Result, usage};
use crate::measure::{Metric, Objective, Population, catalogue_help, monotone};
use crate::optimize::{Fit, Initial, Options, StepRule, frank_wolfe, population};
use crate::report::{Phases, bytes, count, seconds};
use crate::shard::{Extra, LoadOptions, Plan, Shard, load_planned};
use crate::store::{ClassifierFile, Iteration, Location, Role};

/// Find the classifier that is best for a metric, by Frank-Wolfe (Algorithm 1 of the paper)
///
/// Needs estimated probabilities (--marginals) and, best of rows the estimator has not seen, true
/// labels. Without --labels the marginals themselves stand in as expected labels.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  macrok synth data.h5
  macrok fit --marginals data.h5 --labels data.h5 -k 3 --metric macro-f1 --out clf.h5
  mpirun -n 2 macrok fit --marginals data.h5 --labels data.h5 -k 3 --metric macro-f1 --out same.h5
The two classifier files hold the same bits. A metric can be any formula:
  macrok fit --marginals data.h5 --labels data.h5 -k 3 --out mixed.h5 \\
    --metric '0.3*instance-precision + 0.7*macro-f1'")]
pub(super) struct Typed {
    /// Estimated label probabilities: FILE.h5 or FILE.h5:GROUP
    #[arg(long, value_name = "FILE[:GROUP]")]
    marginals: Option<String>,
    /// True labels of the same rows [default: the marginals as expected labels]
    #[arg(long, value_name = "FILE[:GROUP]")]
    labels: Option<String>,
    /// How many labels to predict for every instance
    #[arg(short, value_name = "K")]
    k: Option<usize>,
    /// A name or a formula; `help` lists them all
    #[arg(long, default_value = "macro-f1")]
    metric: String,
    /// The classifier file to write
    #[arg(long, value_name = "CLF.h5")]
    out: Option<PathBuf>,
    /// Where to start: top-k, random, prior (inverse label priors), or a classifier file
    #[arg(long, default_value = "top-k", value_name = "top-k|random|prior|FILE")]
    init: String,
    /// How far to go in each iteration
    #[arg(long, value_enum, default_value = "search")]
    step: StepRule,
    /// Most iterations, each one pass over the marginals
    #[arg(long, default_value_t = 50, value_name = "N")]
    max_iters: usize,
    /// Stop when the best step is smaller
    #[arg(long, default_value_t = 1e-3, value_name = "STEP")]
    tolerance: f64,
    /// Stop when an iteration gains less, or the gap promises less
    #[arg(long, default_value_t = 1e-6, value_name = "GAIN")]
    min_gain: f64,
    /// Added to every denominator of the metric, on the scale of fractions of n
    #[arg(long, default_value_t = 1e-9)]
    epsilon: f64,
    /// Sets epsilon to C / n instead: C imaginary instances in every denominator
    #[arg(long, value_name = "C", conflicts_with = "epsilon")]
    smoothing: Option<f64>,
    /// Seed of --init random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Labels a rule may choose from
    #[arg(long, value_enum, default_value = "all")]
    candidates: Candidates,
    /// Move marginals outside [0, 1] to the nearer end instead of refusing them
    #[arg(long)]
    clamp: bool,
}

/// What was checked and is ready to use.
struct Ready<'t> {
    typed: &'t Typed,
    load: LoadOptions,
    options: Options,
    metric: Metric,
    out: PathBuf,
}

impl Typed {
    fn check(&self) -> Result<Ready<'_>> {
        let Some(marginals) = &self.marginals else {
            return usage("fit needs the estimated probabilities: --marginals FILE.h5");
        };
        let Some(k) = self.k else { return usage("fit needs the number of labels to predict: -k 5") };
        let Some(out) = &self.out else { return usage("fit needs a file to write to: --out CLF.h5") };
        if k == 0 {
            return usage("-k is 0, but at least one label must be predicted");
        }
        if !(1..=8000).contains(&self.max_iters) {
            return usage(format!("--max-iters is {}, but must be 1 to 8000", self.max_iters));
        }
        let positive = [("--epsilon", self.epsilon), ("--smoothing", self.smoothing.unwrap_or(1.0))];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return usage(format!("{name} is {value}, but must be positive and finite"));
            }
        }
        for (name, value) in [("--tolerance", self.tolerance), ("--min-gain", self.min_gain)] {
            if !(value >= 0.0 && value.is_finite()) {
                return usage(format!("{name} is {value}, but must be at least 0 and finite"));
            }
        }
        Ok(Ready {
            typed: self,
            load: LoadOptions {
                marginals: Location::parse(marginals, Role::Marginals),
                labels: self.labels.as_ref().map(|text| Location::parse(text, Role::Labels)),
                clamp: self.clamp,
            },
            options: Options {
                k,
                epsilon: self.epsilon,
                candidates: self.candidates,
                step: self.step,
                max_iterations: self.max_iters,
                tolerance: self.tolerance,
                min_gain: self.min_gain,
            },
            metric: Metric::parse(&self.metric)?,
            out: out.clone(),
        })
    }
}

/// What it is going to load.
pub(super) fn loads(typed: &Typed) -> Result<Loads> {
    let options = typed.check()?.load;
    Ok(Loads { extra: Extra::counting(options.labels.is_some()), options })
}

pub(super) fn run(context: &Context<'_>, typed: &Typed) -> Result<()> {
    let Context { world, console, .. } = context;
    if typed.metric == "help" {
        console.line(catalogue_help());
        return Ok(());
    }
    let ready = world.agree(typed.check())?;
    let Ready { options, .. } = &ready;
    let mut inputs = vec![ready.load.marginals.file.as_path(), typed.init.as_ref()];
    inputs.extend(ready.load.labels.as_ref().map(|labels| labels.file.as_path()));
    context.check_output(&ready.out, &inputs)?;
    let start = load_start(context, typed)?;

    let mut phases = Phases::new();
    let mut planned = None;
    let shard = load_planned(world, &ready.load, Extra::counting(ready.load.labels.is_some()), |plan| {
        let labels = plan.labels as usize;
        context.check(options.k <= labels, || {
            format!("-k is {}, but {} has only {labels} labels", options.k, ready.load.marginals)
        })?;
        if let Initial::Given(mixture) = &start {
            let given = mixture.rules[0].labels();
            context.check(given == labels, || {
                format!("--init {} is for {given} labels, but the data have {labels}", typed.init)
            })?;
        }
        describe(context, &ready, plan);
        planned = Some(plan.clone());
        Ok(())
    })?;
    phases.end("load");
    let population = population(world, &shard);
    let epsilon = typed.smoothing.map_or(typed.epsilon, |c| c / shard.total_rows as f64);
    let objective = ready.metric.bind(options.k, epsilon);
    warn(context, &objective, &population);
    console.line("iteration       utility         gain       step          gap      time");
    let mut before = None;
    let fit = frank_wolfe(
        world,
        &shard,
        &population,
        &ready.metric,
        start,
        &Options { epsilon, ..*options },
        |number, initial, done| {
            let previous = *before.get_or_insert_with(|| {
                console.line(format_args!("{:>9}  {:>12.8}", 0, initial));
                initial
            });
            console.line(iteration_line(number, previous, done));
            before = Some(done.utility);
        },
    )?;
    phases.end("fit");

    // Rank 0 has the file; the others take part in writing it.
    let file = fit.as_ref().map(|fit| to_classifier_file(&ready, fit, &population)).unwrap_or_default();
    if let Some(fit) = &fit {
        if fit.trajectory.is_empty() {
            console.line(format_args!("{:>9}  {:>12.8}", 0, fit.utility));
        }
        console.line(format_args!(
            "stopped after {} step{}: {}",
            fit.trajectory.len(),
            if fit.trajectory.len() == 1 { "" } else { "s" },
            fit.stopped.explain()
        ));
    }
    file.write(world, &ready.out, context.overwrite)?;
    phases.end("write");
    phases.slowest(world);
    if let Some(fit) = &fit {
        console.line(format_args!(
            "{} = {:.8} with {} rule{} (started from {:.8})",
            typed.metric,
            fit.utility,
            fit.mixture.rules.len(),
            if fit.mixture.rules.len() == 1 { "" } else { "s" },
            fit.initial_utility,
        ));
        console.wrote(&ready.out);
        console.line("");
        console.line(phases.table());
    }
    console.json(world, || facts(context, &ready, &shard, fit.as_ref(), &phases, planned.as_ref()))
}

/// The initial classifier; a file is read by rank 0's peers too, they need its rules.
fn load_start(context: &Context<'_>, typed: &Typed) -> Result<Initial> {
    match typed.init.as_str() {
        "top-k" => Ok(Initial::TopK),
        "random" => Ok(Initial::Random { seed: typed.seed }),
        "prior" => Ok(Initial::Prior),
        path => {
            let file = ClassifierFile::read(path.as_ref()).map_err(Into::into);
            let mixture: Mixture = to_mixture(&context.world.agree(file)?);
            Ok(Initial::Given(mixture))
        }
    }
}

/// The plan, before anything takes long.
fn describe(context: &Context<'_>, ready: &Ready<'_>, plan: &Plan) {
    let ranks = context.world.size();
    context.console.line(format_args!(
        "{}: {} instances x {} labels, {} stored; k = {}, maximising {}",
        ready.load.marginals,
        count(plan.rows),
        count(plan.labels),
        count(plan.entries),
        ready.options.k,
        ready.metric.text(),
    ));
    context.console.line(match &ready.load.labels {
        Some(labels) => format!("labels from {labels}"),
        None => "no labels given: the marginals stand in as expected labels".into(),
    });
    context.console.line(format_args!(
        "{} rank{} x {} thread{} ({} kernel), {} a pass; needs {}",
        ranks,
        if ranks == 1 { "" } else { "s" },
        context.threads,
        if context.threads == 1 { "" } else { "s" },
        Kernel::best().name(),
        bytes(plan.bytes_per_pass),
        plan.memory,
    ));
}

fn warn(context: &Context<'_>, objective: &Objective, population: &Population) {
    for warning in monotone::warnings(objective) {
        context.console.warn(warning);
    }
    let unseen = population.positives.iter().filter(|&&positives| positives == 0).count();
    if unseen > 0 {
        context.console.line(format_args!(
            "{} of {} labels have no positive instance here; they take no part in the search",
            count(unseen as u64),
            count(population.positives.len() as u64)
        ));
    }
}

fn iteration_line(number: usize, before: f64, done: &Iteration) -> String {
    format!(
        "{number:>9}  {:>12.8}  {:>+11.2e}  {:>9.6}  {:>+11.2e}  {:>8}",
        done.utility,
        done.utility - before,
        done.step,
        done.gap,
        seconds(done.seconds)
    )
}

fn to_classifier_file(ready: &Ready<'_>, fit: &Fit, population: &Population) -> ClassifierFile {
    let labelled = population.unit == 1;
    ClassifierFile {
        trajectory: fit.trajectory.clone(),
        // Expected positives are no counts; propensities cannot be estimated from them.
        positives: if labelled { population.positives.clone() } else { Vec::new() },
        rows: population.rows,
        ..to_file(&fit.mixture, ready.metric.text(), ready.typed.seed)
    }
}

fn facts(
    context: &Context<'_>,
    ready: &Ready<'_>,
    shard: &Shard,
    fit: Option<&Fit>,
    phases: &Phases,
    plan: Option<&Plan>,
) -> serde_json::Value {
    let (Some(fit), Some(plan)) = (fit, plan) else { return serde_json::Value::Null };
    let column = |value: fn(&Iteration) -> f64| fit.trajectory.iter().map(value).collect::<Vec<_>>();
    let mut utilities = vec![fit.initial_utility];
    utilities.extend(column(|done| done.utility));
    json!({
        "metric": ready.metric.text(),
        "k": ready.options.k,
        "n": shard.total_rows,
        "m": shard.labels(),
        "ranks": context.world.size(),
        "threads": context.threads,
        "utility": fit.utility,
        "utilities": utilities,
        "steps": column(|done| done.step),
        "gaps": column(|done| done.gap),
        "gap": fit.gap,
        "rules": fit.mixture.rules.len(),
        "iterations": fit.trajectory.len(),
        "passes": fit.passes,
        "stopped": fit.stopped,
        "seconds": {
            "load": phases.seconds("load"),
            "fit": phases.seconds("fit"),
            "oracle": fit.seconds.oracle,
            "reduce": fit.seconds.reduce,
            "gradient": fit.seconds.gradient,
            "search": fit.seconds.search,
            "total": phases.total(),
        },
        "peak_rss_bytes": phases.peak(),
        "memory_needed_bytes": plan.memory.need,
        "bytes_per_pass": plan.bytes_per_pass,
    })
}
