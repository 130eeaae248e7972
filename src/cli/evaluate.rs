//! `macrok evaluate`: every metric of a classifier or of predictions.

use std::path::PathBuf;

use serde_json::{Map, json};

use super::common::{Context, Loads, PropensityModel, load_for};
use super::reliability;
use crate::classifier::{Mixture, Pick, Sampling};
use crate::classifier_file::ClassifierFile;
use crate::error::{Result, usage};
use crate::evaluate::{Evaluation, Mode, Propensities, Summary, calibration, score, summarise, tally};
use crate::format::count;
use crate::load::{Extra, LoadOptions, Predicted, load_labels, load_predictions, total_positives};
use crate::report::{Align, Phases, Progress, Table};
use crate::shard::Shard;
use crate::store::{Location, Role};

/// Compute all metrics of a classifier, or of predictions made before
///
/// A randomised classifier is drawn from --repeats times; mean and standard deviation are shown.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  macrok synth data.h5
  macrok fit --marginals data.h5 --labels data.h5 -k 3 --metric macro-f1 --out clf.h5
  macrok evaluate clf.h5 --marginals data.h5 --labels data.h5 --repeats 10 --json -
  macrok predict clf.h5 --marginals data.h5 --out pred.h5
  macrok evaluate --predictions pred.h5 --labels data.h5
hamming is a loss: the share of wrong cells. ps-precision needs label counts of the training data;
they are in a classifier file made with labels, or come from --train-labels. Below the metrics of a
classifier it says whether the marginals mean what they say: their calibration error, and, for marginals
of every size, how often the label was there.")]
pub(super) struct Typed {
    /// The classifier file
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
    how: EvaluateOptions,
    /// Labels of the training data, for the propensities of ps-precision
    #[arg(long, value_name = "FILE[:GROUP]")]
    train_labels: Option<String>,
    /// Move marginals outside [0, 1] to the nearer end instead of refusing them
    #[arg(long)]
    clamp: bool,
}

/// How to evaluate; also a section of job files.
#[derive(clap::Args)]
pub(super) struct EvaluateOptions {
    /// How often to draw from the mixture
    #[arg(long, default_value_t = 10, value_name = "N")]
    repeats: u32,
    /// No draws: metrics of the exact expected confusion tensor of the mixture
    #[arg(long)]
    expected: bool,
    /// How to draw from the mixture
    #[arg(long, value_enum, default_value = "rule")]
    sampling: Sampling,
    /// Seed of the draws
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    pub propensity: PropensityModel,
    /// Added to every denominator, on the scale of fractions of n
    #[arg(long, default_value_t = 1e-9)]
    epsilon: f64,
}

impl EvaluateOptions {
    pub fn check(&self) -> Result<Evaluation> {
        let EvaluateOptions { repeats, sampling, seed, epsilon, .. } = *self;
        if repeats == 0 {
            return usage("--repeats is 0, but must be at least 1; --expected evaluates without drawing");
        }
        if !(epsilon > 0.0 && epsilon.is_finite()) {
            return usage(format!("--epsilon is {epsilon}, but must be positive and finite"));
        }
        self.propensity.check()?;
        let mode = if self.expected { Mode::Expected } else { Mode::Drawn { sampling, seed, repeats } };
        Ok(Evaluation { mode, epsilon, formulas: Vec::new() })
    }
}

/// What is evaluated.
enum Subject {
    Classifier(Mixture),
    Predictions { picks: Vec<Pick>, k: usize },
}

/// What a draw needs beside the rows, to be judged.
const JUDGING: Extra = Extra { bytes_a_row: 0, bytes_a_label: 0, bytes_a_count: 16 };

/// What it is going to load. Reads the classifier.
pub(super) fn loads(typed: &Typed) -> Result<Loads> {
    let labels = Some(Location::parse(&typed.labels, Role::Labels));
    let (text, role, extra) = match (&typed.classifier, &typed.marginals, &typed.predictions) {
        (Some(path), Some(marginals), _) => (
            marginals,
            Role::Marginals,
            JUDGING.with_rules(ClassifierFile::read(path)?.mixture.rules.len() as u64),
        ),
        (_, _, Some(predictions)) => (predictions, Role::Predictions, JUDGING),
        _ => return usage("evaluate needs a classifier and --marginals, or --predictions"),
    };
    Ok(Loads {
        options: LoadOptions { marginals: Location::parse(text, role), labels, clamp: typed.clamp },
        extra,
    })
}

pub(super) fn run(context: &Context<'_>, typed: &Typed) -> Result<()> {
    let Context { world, console, .. } = context;
    let evaluation = world.agree(typed.how.check())?;
    let mut phases = Phases::new();
    let labels = Location::parse(&typed.labels, Role::Labels);
    let mut known = (Vec::new(), 0);
    let (shard, subject) = match (&typed.classifier, &typed.marginals, &typed.predictions) {
        (Some(path), Some(marginals), None) => {
            let file = world.agree(ClassifierFile::read(path).map_err(Into::into))?;
            let marginals = Location::parse(marginals, Role::Marginals);
            let load = LoadOptions { marginals, labels: Some(labels), clamp: typed.clamp };
            let shard = load_for(context, &load, path, &file, JUDGING)?;
            known = (file.positives, file.rows);
            (shard, Subject::Classifier(file.mixture))
        }
        (_, _, Some(predictions)) => {
            let predictions = Location::parse(predictions, Role::Predictions);
            let Predicted { shard, k } = load_predictions(world, &predictions, &labels)?;
            let picks = ranked(&shard);
            (shard, Subject::Predictions { picks, k })
        }
        _ => return world.agree(usage("evaluate needs a classifier and --marginals, or --predictions")),
    };
    let propensities = propensities(context, typed, &shard, known)?;
    phases.end("load");
    let (k, rules) = match &subject {
        Subject::Classifier(mixture) => (mixture.k, mixture.rules.len()),
        Subject::Predictions { k, .. } => (*k, 1),
    };
    let calibrated = match &subject {
        Subject::Classifier(_) => Some(calibration(world, &shard)),
        Subject::Predictions { .. } => None,
    };
    let (summary, repeats) = match subject {
        Subject::Predictions { picks, k } => {
            let tally = tally(world, &shard, &picks, k, &propensities);
            (summarise(&[score(&[(1.0, &tally)], evaluation.epsilon)?]), 1)
        }
        Subject::Classifier(mixture) => {
            // A mixture of one rule is drawn once, because every draw is the same; that counts as all of them.
            let repeats = evaluation.draws();
            let progress = Progress::new(console, "drawing", repeats.into());
            let drawn = |_| progress.advance(1);
            let summary = evaluation.summary(world, &shard, &mixture, &propensities, drawn)?;
            progress.finish();
            (summary, repeats)
        }
    };
    phases.end("evaluate");
    phases.slowest(world);
    console.line(format_args!(
        "{} instances x {} labels, k = {k}, {}",
        count(shard.total_rows),
        count(shard.labels() as u64),
        match (typed.how.expected, rules) {
            (true, _) => "exact expectation of the mixture".to_owned(),
            (false, 1) => "one deterministic prediction".to_owned(),
            (false, rules) => format!("mean and deviation of {repeats} draw(s) from {rules} rules"),
        }
    ));
    let mut table =
        Table::new(&[("metric", Align::Left), ("mean", Align::Right), ("deviation", Align::Right)]);
    for (name, Summary { mean, std }) in &summary {
        table.row([name.clone(), format!("{mean:.6}"), format!("{std:.6}")]);
    }
    console.line(table);
    console.line("");
    if let Some(found) = &calibrated {
        reliability::show(console, found);
        console.line("");
    }
    console.line(phases.table());
    console.json(world, || {
        let metrics: Map<String, serde_json::Value> =
            summary.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let mut facts = json!({
            "k": k,
            "n": shard.total_rows,
            "m": shard.labels(),
            "repeats": repeats,
            "expected": typed.how.expected,
            "seed": typed.how.seed,
            "metrics": metrics,
        });
        if let Some(found) = &calibrated {
            facts["calibration"] = json!(found);
        }
        facts
    })
}

/// The predicted labels of each row, best score first.
fn ranked(shard: &Shard) -> Vec<Pick> {
    let mut picks = Vec::with_capacity(shard.marginals.entries());
    for local in 0..shard.local_rows() {
        let start = picks.len();
        let pick = |(label, score): (u32, f32)| Pick { label, score: score.into(), marginal: 0.0 };
        picks.extend(shard.marginals.labelled(local).map(pick));
        picks[start..].sort_by(|a, b| b.score.total_cmp(&a.score).then(a.label.cmp(&b.label)));
    }
    picks
}

/// Label counts of the training data: given, or from the classifier file, or the evaluated labels.
fn propensities(
    context: &Context<'_>,
    typed: &Typed,
    shard: &Shard,
    known: (Vec<u64>, u64),
) -> Result<Propensities> {
    let world = context.world;
    let (positives, rows) = if let Some(text) = &typed.train_labels {
        let location = Location::parse(text, Role::Labels);
        let (_, rows, labels) = load_labels(world, &location)?;
        let positives = total_positives(world, &labels, rows);
        context.check(positives.len() == shard.labels(), || {
            format!(
                "{location} has {} labels, but the evaluated data have {}",
                positives.len(),
                shard.labels()
            )
        })?;
        (positives, rows)
    } else if known.0.len() == shard.labels() {
        known
    } else {
        context.console.line("ps-precision: label counts of the evaluated rows (no --train-labels given)");
        let mut positives = crate::classifier::count_positives(shard);
        world.sum(&mut positives, shard.total_rows);
        (positives, shard.total_rows)
    };
    Ok(Propensities::new(
        &positives,
        rows,
        typed.how.propensity.propensity_a,
        typed.how.propensity.propensity_b,
    ))
}
