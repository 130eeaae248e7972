//! `macrok fit`: fits a classifier by Frank-Wolfe.

mod json_summary;
pub(super) mod options;
mod output;
mod request;

use std::path::PathBuf;

use serde_json::json;

use super::common::{Context, LoadRequest};
use super::existing_output::ExistingOutput;
use super::stop_args::{STOPPING_HEADING, StopArgs};
use super::values::{output_file, within};
use crate::error::Result;
use crate::fault;
use crate::optimize::FitData;
use crate::report::Phases;
use crate::store::Overwrite;

use options::FitOptions;

/// Find the classifier that maximises a metric, by Frank-Wolfe (Algorithm 1 of the paper)
///
/// Needs estimated probabilities (--marginals) and true labels (--labels), preferably of rows that the estimator was
/// not trained on. Without --labels, the marginals serve as expected labels.
#[derive(clap::Args)]
#[command(
    override_usage = "macrok fit --marginals <FILE> [--labels <FILE>] -k <K> [--metric <METRIC>] --out <FILE> [OPTIONS]"
)]
#[command(after_long_help = "\
Example:
  macrok synth dev.h5
  macrok fit --marginals dev.h5 --labels dev.h5 -k 3 --metric macro-f1 --out best.h5
  mpirun -n 2 macrok fit --marginals dev.h5 --labels dev.h5 -k 3 --metric macro-f1 --out same.h5
Both classifier files are bit-identical. A metric can be any formula:
  macrok fit --marginals dev.h5 --labels dev.h5 -k 3 --out mixed.h5 \\
    --metric '0.3*instance-precision + 0.7*macro-f1'
With --resume, the same line starts a fit and resumes it after it was stopped or killed or ran out of time:
  macrok fit --marginals dev.h5 --labels dev.h5 -k 3 --out long.h5 --time-limit 2:00:00 --resume
SIGTERM, SIGINT, SIGUSR1 and SIGXCPU stop it after the current iteration, with exit status 75; a second \
signal ends it immediately.")]
pub(super) struct FitArgs {
    /// Estimated label probabilities: FILE.h5 or FILE.h5:GROUP
    #[arg(long, value_name = "FILE[:GROUP]")]
    marginals: String,
    /// True labels of the same rows [default: the marginals as expected labels]
    #[arg(long, value_name = "FILE[:GROUP]")]
    labels: Option<String>,
    /// Number of labels to predict per instance
    #[arg(short, visible_alias = "k", value_name = "K", value_parser = within(1usize..))]
    k: usize,
    /// Metric to maximise: a name or a formula; `help` lists all names
    #[arg(long, default_value = "macro-f1", value_parser = metric_text)]
    metric: String,
    /// Classifier file to write
    #[arg(short, long, value_name = "CLF.h5", value_parser = output_file())]
    out: PathBuf,
    #[command(flatten)]
    options: FitOptions,
    /// Seed of --init random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Move marginals outside [0, 1] to the nearest bound instead of refusing them
    #[arg(long)]
    clamp: bool,
    #[command(flatten)]
    pub(super) stop: StopArgs,
    /// Iterations between checkpoints; 0 writes none
    #[arg(long, help_heading = STOPPING_HEADING, default_value_t = 1, value_name = "N")]
    checkpoint_every: usize,
}

/// The request `--metric help`. It is an error of parsing, so that it needs no other option.
#[derive(Debug, thiserror::Error)]
#[error("lists the metrics")]
pub(super) struct MetricList;

fn metric_text(text: &str) -> std::result::Result<String, MetricList> {
    if text == "help" { Err(MetricList) } else { Ok(text.to_owned()) }
}

pub(super) fn run(context: &Context<'_>, args: &FitArgs) -> Result<()> {
    let Context { world, console, control, .. } = context;
    let request = world.agree(args.check(context.overwrite))?;
    let initial = request.load_initial(world)?;
    let mut existing =
        ExistingOutput::inspect(context, args.files(&request), &request.fingerprint(&initial))?;
    if request.checkpoint_policy.is_some() {
        control.enable_graceful_stop(world, args.stop.time_limit);
    }
    let mut phases = Phases::new();
    let plan = request.plan_load(world, &initial)?;
    let summary = plan.summary;
    output::print_plan(context, &request, &summary);
    let shard = plan.load()?;
    fault::inject(world.rank(), "load")?;
    phases.end("load");
    existing.stop_after_loading(context)?;
    let data = FitData::new(world, &shard);
    output::print_warnings(context, &request, &data.population);
    let problem = request.problem(&data, initial);
    let facts = || json!({ "metric": request.metric.text(), "k": request.k });
    if existing.is_complete(context, &problem.fingerprint(), facts)? {
        return Ok(());
    }
    let mut finished = request.run(world, problem, control, console, || phases.end("fit"))?;
    finished.session.remove(console);
    phases.end("write");
    phases.max_over_ranks(world);
    if let Some(fit) = &finished.fit {
        output::print_result(context, &request, fit, &phases);
    }
    console
        .json(world, || json_summary::json_summary(context, &request, &shard, &finished, &phases, &summary))
}

/// Returns what the command would load.
pub(super) fn load_request(args: &FitArgs, overwrite: Overwrite) -> Result<LoadRequest> {
    let request = args.check(overwrite)?;
    Ok(LoadRequest { extra: request.extra_memory(), options: request.load })
}
