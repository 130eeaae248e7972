//! `macrok train`: trains an estimator of label probabilities.

mod network_args;
mod output;
mod request;
mod tree_args;

use std::ops::Bound;
use std::path::PathBuf;

use serde_json::json;

use super::common::Context;
use super::existing_output::ExistingOutput;
use super::stop_args::{STOPPING_HEADING, StopArgs};
use super::values::{output_file, within};
use crate::calibration::CalibrationMethod;
use crate::checkpoint::{CheckpointSession, Fingerprint};
use crate::error::Result;
use crate::estimate::{CalibrationOptions, CalibrationRows, EstimateError, TrainingRun, calibrate, hold_out};
use crate::fault;
use crate::format::format_count;
use crate::load::{Examples, plan_examples};
use crate::report::Phases;

use network_args::NetworkArgs;
pub(super) use output::describe_model;
use request::TrainRequest;
use tree_args::TreeArgs;

/// Train an estimator of label probabilities on features and labels
///
/// `macrok marginals` uses the model to estimate the probabilities of rows with the same features. Fit classifiers on
/// rows that the estimator was not trained on.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  macrok synth train.h5
  macrok synth rest.h5 --first-row 2000
  macrok train train.h5 --estimator plt --out tree.model
  macrok marginals tree.model rest.h5 --keep 50 --out rest-marginals.h5
  macrok fit --marginals rest-marginals.h5 --labels rest-marginals.h5 -k 3 --out rest-clf.h5
On two ranks, a bit-identical model:
  mpirun -n 2 macrok train train.h5 --estimator plt --out same.model
With calibrated marginals:
  macrok train train.h5 --estimator plt --calibrate isotonic --out calibrated.model
A network, trained for the number of epochs, up to ten, that is best on a tenth of the rows:
  macrok train train.h5 --estimator mlp --hidden 256 --epochs 10 --out network.model
With --resume, the same line starts a training and resumes it after it was stopped or killed or ran out of time:
  macrok train train.h5 --estimator linear --out linear.model --time-limit 2:00:00 --resume")]
pub(super) struct TrainArgs {
    /// Features and labels: FILE.h5, or FILE.h5:GROUP for other features
    #[arg(value_name = "DATA[:GROUP]")]
    data: String,
    /// Labels of the same rows [default: the group `labels` of DATA]
    #[arg(long, value_name = "FILE[:GROUP]")]
    labels: Option<String>,
    /// Estimator to train
    #[arg(long, value_enum)]
    estimator: EstimatorName,
    /// Model file to write
    #[arg(short, long, value_name = "MODEL", value_parser = output_file())]
    out: PathBuf,
    /// Seed of all random draws
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    tree: TreeArgs,
    #[command(flatten)]
    network: NetworkArgs,
    /// Calibrate the marginals on rows held out from training; the order of a row's labels stays the same
    #[arg(long, help_heading = CALIBRATION_HEADING, value_enum, value_name = "METHOD")]
    calibrate: Option<CalibrationMethod>,
    /// Share of the rows to hold out for calibration
    #[arg(long, help_heading = CALIBRATION_HEADING, default_value_t = 0.1, value_name = "SHARE",
          value_parser = within((Bound::Excluded(0.0), Bound::Excluded(1.0))))]
    calibrate_share: f64,
    #[command(flatten)]
    pub(super) stop: StopArgs,
    /// Write no checkpoint: a stopped training starts from the beginning
    #[arg(long, help_heading = STOPPING_HEADING,
          conflicts_with_all = ["resume", "checkpoint", "time_limit"])]
    no_checkpoint: bool,
}

const CALIBRATION_HEADING: &str = "Calibration";

/// The estimators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum EstimatorName {
    /// A probabilistic label tree, for many labels and sparse features
    Plt,
    /// One-vs-rest logistic regression, for up to some thousands of labels
    Linear,
    /// A fully connected network, for up to some thousands of labels
    Mlp,
}

pub(super) fn run(context: &Context<'_>, args: &TrainArgs) -> Result<()> {
    let Context { world, console, control, .. } = context;
    let request = world.agree(args.check(context.overwrite))?;
    let mut existing = ExistingOutput::inspect(context, request.files(), &request.options_fingerprint())?;
    if request.checkpoint_policy.is_some() {
        control.enable_graceful_stop(world, args.stop.time_limit);
    }
    let mut phases = Phases::new();
    let (examples, held_out, digest) = load(context, &request)?;
    fault::inject(world.rank(), "load")?;
    phases.end("load");
    existing.stop_after_loading(context)?;
    let made_from = model_fingerprint(&request, &examples, held_out.rows, digest);
    if existing.is_complete(context, &made_from, || json!({}))? {
        return Ok(());
    }
    let policy = request.checkpoint_policy.as_ref();
    let (mut session, saved) = CheckpointSession::open(world, control, policy, made_from.clone(), console)?;
    let trained = request
        .estimator
        .train(&examples, TrainingRun { world, saved, session: &mut session, progress: console })?;
    phases.end("train");
    let mut file = trained.unwrap_or_default();
    if let Some(calibration) = request.calibrate {
        let calibrated = calibrate(world, &mut file, &held_out, calibration, &args.out)?;
        console.line(calibrated);
        phases.end("calibrate");
    }
    file.seconds = phases.seconds("train");
    file.fingerprint = Some(made_from.to_text());
    file.write(world, &args.out, context.overwrite)?;
    session.remove(console);
    let checkpoints = session.report();
    phases.end("write");
    phases.max_over_ranks(world);
    output::print_model(console, &file);
    console.wrote(&args.out);
    console.phases(&phases);
    console.json(world, || {
        json!({
            "estimator": file.estimator,
            "n": examples.total_rows,
            "held_out": held_out.rows,
            "d": file.features,
            "m": file.labels,
            "seed": file.seed,
            "options": file.options,
            "record": file.record,
            "ranks": world.size(),
            "threads": context.threads,
            "checkpoints": { "written": checkpoints.written, "bytes": checkpoints.bytes },
            "seconds": phases.json(&["load", "train", "calibrate", "write"]),
            "peak_rss_bytes": phases.peak(),
        })
    })
}

/// Loads the examples and holds out rows for calibration. Returns both with the digest of all rows, and refuses data
/// without labels.
fn load(context: &Context<'_>, request: &TrainRequest<'_>) -> Result<(Examples, CalibrationRows, u64)> {
    let Context { world, console, .. } = context;
    let (features, labels) = (&request.features, &request.labels);
    let plan = plan_examples(world, features, Some(labels))?;
    console.line(format_args!(
        "{features}: {} instances, {} features, {} labels",
        format_count(plan.rows),
        format_count(plan.features),
        format_count(plan.labels.unwrap_or(0)),
    ));
    let distribution = request.estimator.row_distribution();
    let examples = plan.load(distribution)?;
    let digest = examples.digest(world, distribution);
    let (examples, held_out) = match request.calibrate {
        Some(CalibrationOptions { share, .. }) => {
            hold_out(world, examples, distribution, share, request.args.seed)?
        }
        None => (examples, CalibrationRows::default()),
    };
    let entries = examples.labels.as_ref().map_or(0, |labels| labels.nnz() as u64);
    match world.gather_to_all(entries).iter().any(|&entries| entries > 0) {
        true => Ok((examples, held_out, digest)),
        false => world.agree(Err(EstimateError::NoLabels { data: labels.to_string() })),
    }
}

/// Returns all that determines the model. `held_out` counts the rows that are not in `examples`.
fn model_fingerprint(
    request: &TrainRequest<'_>,
    examples: &Examples,
    held_out: u64,
    digest: u64,
) -> Fingerprint {
    request
        .options_fingerprint()
        .with("instances", examples.total_rows + held_out)
        .with("features", examples.features.cols())
        .with("data", format!("{digest:016x}"))
}
