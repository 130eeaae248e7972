//! `macrok evaluate`: computes all metrics of a classifier or of predictions.

use std::path::PathBuf;

use serde_json::{Map, json};

use super::calibration_report;
use super::common::{Context, LoadRequest, PropensityModel};
use super::values::{positive, within};
use crate::classifier::Sampling;
use crate::classifier_file::ClassifierFile;
use crate::error::{Result, usage};
use crate::evaluate::{Evaluation, EvaluationMode, Summary, join_equal, measure_calibration};
use crate::format::{count_noun, format_count};
use crate::load::{LabelCounts, LoadOptions};
use crate::pipeline::{EvaluateRequest, Subject, load_for_classifier, load_predicted, scoring_memory};
use crate::report::{Phases, Table};
use crate::shard::Shard;
use crate::store::{Location, Role};

/// Compute all metrics of a classifier, or of predictions
///
/// A randomised classifier is sampled --repeats times; the table shows mean and standard deviation.
#[derive(clap::Args)]
#[command(override_usage = "macrok evaluate <CLASSIFIER> --marginals <FILE> --labels <FILE> [OPTIONS]
       macrok evaluate --predictions <FILE> --labels <FILE> [OPTIONS]")]
#[command(after_long_help = "\
Examples:
  macrok synth test.h5
  macrok fit --marginals test.h5 --labels test.h5 -k 3 --metric macro-f1 --out test-clf.h5
  macrok evaluate test-clf.h5 --marginals test.h5 --labels test.h5 --repeats 10 --json -
  macrok predict test-clf.h5 --marginals test.h5 --out test-pred.h5
  macrok evaluate --predictions test-pred.h5 --labels test.h5
hamming is a loss: the share of wrong cells. ps-precision needs the label counts of the training data: from \
--train-labels, or from the classifier file if it was made with labels. For a classifier, a second table \
shows how well the marginals are calibrated: their calibration error, and, by size of the marginal, how \
often the label was there.")]
pub(super) struct EvaluateArgs {
    /// Classifier file
    #[arg(required_unless_present = "predictions", conflicts_with = "predictions")]
    classifier: Option<PathBuf>,
    /// Estimated label probabilities: FILE.h5 or FILE.h5:GROUP
    #[arg(long, value_name = "FILE[:GROUP]", required_unless_present = "predictions")]
    marginals: Option<String>,
    /// Predictions to evaluate instead of a classifier
    #[arg(long, value_name = "P.h5[:GROUP]", conflicts_with_all = ["marginals", "expected"])]
    predictions: Option<String>,
    /// True labels: FILE.h5 or FILE.h5:GROUP
    #[arg(long, value_name = "FILE[:GROUP]")]
    labels: String,
    #[command(flatten)]
    options: EvaluateOptions,
    /// Labels of the training data, for the propensities of ps-precision
    #[arg(long, value_name = "FILE[:GROUP]")]
    train_labels: Option<String>,
    /// Move marginals outside [0, 1] to the nearest bound instead of refusing them
    #[arg(long)]
    clamp: bool,
}

/// Options of the evaluation; also a section of job files.
#[derive(clap::Args)]
pub(super) struct EvaluateOptions {
    /// Number of draws from the mixture
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = within(1u32..))]
    repeats: u32,
    /// Compute the metrics of the exact expected confusion tensor instead of drawing
    #[arg(long)]
    expected: bool,
    /// Method of drawing from the mixture
    #[arg(long, value_enum, default_value = "rule")]
    sampling: Sampling,
    /// Seed of the draws
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    propensity: PropensityModel,
    /// Value added to every denominator, as a fraction of the instances
    #[arg(long, default_value_t = 1e-9, value_parser = positive())]
    epsilon: f64,
}

impl EvaluateOptions {
    pub fn request(&self) -> EvaluateRequest {
        let EvaluateOptions { repeats, sampling, seed, epsilon, propensity, .. } = *self;
        let mode = if self.expected {
            EvaluationMode::Expected
        } else {
            EvaluationMode::Drawn { sampling, seed, repeats }
        };
        EvaluateRequest {
            evaluation: Evaluation { mode, epsilon, formulas: Vec::new() },
            propensity: (propensity.propensity_a, propensity.propensity_b),
        }
    }
}

/// Returns what the command would load. Reads the classifier.
pub(super) fn load_request(args: &EvaluateArgs) -> Result<LoadRequest> {
    let labels = Some(Location::parse(&args.labels, Role::Labels));
    let (text, role, rules) = match (&args.classifier, &args.marginals, &args.predictions) {
        (Some(path), Some(marginals), _) => {
            (marginals, Role::Marginals, ClassifierFile::read(path)?.mixture.rules.len() as u64)
        }
        (_, _, Some(predictions)) => (predictions, Role::Predictions, 0),
        _ => return usage("evaluate needs a classifier and --marginals, or --predictions"),
    };
    let options = LoadOptions { marginals: Location::parse(text, role), labels, clamp: args.clamp };
    Ok(LoadRequest { options, extra: scoring_memory(rules) })
}

pub(super) fn run(context: &Context<'_>, args: &EvaluateArgs) -> Result<()> {
    let Context { world, console, .. } = context;
    let request = args.options.request();
    let mut phases = Phases::new();
    let labels = Location::parse(&args.labels, Role::Labels);
    let mut training_counts = None;
    let (shard, subject) = match (&args.classifier, &args.marginals, &args.predictions) {
        (Some(path), Some(marginals), None) => {
            let file = world.agree(ClassifierFile::read(path))?;
            let marginals = Location::parse(marginals, Role::Marginals);
            let load = LoadOptions { marginals, labels: Some(labels), clamp: args.clamp };
            let extra = scoring_memory(file.mixture.rules.len() as u64);
            let shard = load_for_classifier(world, &load, path, &file, extra)?;
            training_counts = Some(LabelCounts { positives: file.positives, rows: file.rows });
            (shard, Subject::Classifier(file.mixture))
        }
        (_, _, Some(predictions)) => {
            load_predicted(world, &Location::parse(predictions, Role::Predictions), &labels)?
        }
        _ => return world.agree(usage("evaluate needs a classifier and --marginals, or --predictions")),
    };
    let counts = label_counts(context, args, &shard, training_counts)?;
    phases.end("load");
    let (k, rules, is_classifier) = match &subject {
        Subject::Classifier(mixture) => (mixture.k, mixture.rules.len(), true),
        Subject::Predictions { k, .. } => (*k, 1, false),
    };
    let calibrated = is_classifier.then(|| measure_calibration(world, &shard));
    // A mixture of one rule is drawn only once, because all draws are the same.
    let repeats = if is_classifier { request.evaluation.draws() } else { 1 };
    let summary = request.run(world, &shard, &subject, &counts, console)?;
    phases.end("evaluate");
    phases.max_over_ranks(world);
    console.line(format_args!(
        "{} instances x {} labels, k = {k}, {}",
        format_count(shard.total_rows),
        format_count(shard.labels() as u64),
        match (args.options.expected, rules) {
            (true, _) => "exact expectation of the mixture".to_owned(),
            (false, 1) => "one deterministic prediction".to_owned(),
            (false, rules) =>
                format!("mean and deviation of {} from {rules} rules", count_noun(repeats, "draw")),
        }
    ));
    let mut columns = vec!["metric", ">mean", ">deviation"];
    if args.options.expected || rules == 1 {
        columns = vec!["metric", ">value"];
    }
    let mut table = Table::new(&columns);
    for (name, Summary { mean, std }) in join_equal(&summary) {
        table.row([name, format!("{mean:.6}"), format!("{std:.6}")].into_iter().take(columns.len()));
    }
    console.table(&table);
    if let Some(found) = &calibrated {
        console.line("");
        calibration_report::print_calibration(console, found);
    }
    console.phases(&phases);
    console.json(world, || {
        let metrics: Map<String, serde_json::Value> =
            summary.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let mut facts = json!({
            "k": k,
            "n": shard.total_rows,
            "m": shard.labels(),
            "repeats": repeats,
            "expected": args.options.expected,
            "seed": args.options.seed,
            "metrics": metrics,
        });
        if let Some(found) = &calibrated {
            facts["calibration"] = json!(found);
        }
        facts
    })
}

/// Returns the label counts of --train-labels, of the classifier file, or of the evaluated rows.
fn label_counts(
    context: &Context<'_>,
    args: &EvaluateArgs,
    shard: &Shard,
    training_counts: Option<LabelCounts>,
) -> Result<LabelCounts> {
    let (world, labels) = (context.world, shard.labels());
    if let Some(text) = &args.train_labels {
        let location = Location::parse(text, Role::Labels);
        let counts = LabelCounts::load(world, &location)?;
        let given = counts.positives.len();
        context.require(given == labels, || {
            format!("{location} has {given} labels, but the evaluated data have {labels}")
        })?;
        return Ok(counts);
    }
    if let Some(counts) = training_counts.filter(|counts| counts.positives.len() == labels) {
        return Ok(counts);
    }
    context.console.line("ps-precision: label counts of the evaluated rows (no --train-labels given)");
    Ok(LabelCounts::of_shard(world, shard))
}
