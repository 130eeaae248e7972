//! `macrok fit`: Frank-Wolfe.

mod json_summary;
pub(super) mod options;
mod output;
mod request;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::common::{Context, LoadRequest};
use super::existing_output::ExistingOutput;
use crate::error::{Error, Result};
use crate::fault;
use crate::job::TimeLimit;
use crate::measure::catalogue_help;
use crate::optimize::FitData;
use crate::report::{ConsoleProgress, Phases};
use crate::store::Overwrite;

use options::FitOptions;

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
    --metric '0.3*instance-precision + 0.7*macro-f1'
With --resume one line begins a fit, and goes on with it after it was stopped, killed or out of time:
  macrok fit --marginals data.h5 --labels data.h5 -k 3 --out long.h5 --time-limit 2:00:00 --resume
SIGTERM, SIGINT, SIGUSR1 and SIGXCPU stop it after the iteration at hand, exit status 75; a second
signal ends it at once.")]
pub(super) struct FitArgs {
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
    #[command(flatten)]
    options: FitOptions,
    /// Seed of --init random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Move marginals outside [0, 1] to the nearer end instead of refusing them
    #[arg(long)]
    clamp: bool,
    /// Go on from the checkpoint of a fit that was stopped; without one, begin
    #[arg(long, help_heading = STOPPING_HEADING)]
    resume: bool,
    /// Where to keep how far the fit has come [default: the --out file with .checkpoint appended]
    #[arg(long, help_heading = STOPPING_HEADING, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Iterations from one checkpoint to the next; 0 keeps none
    #[arg(long, help_heading = STOPPING_HEADING, default_value_t = 1, value_name = "N")]
    checkpoint_every: usize,
    /// Stop in time to be resumed, as `sbatch --time` has it [default: what Slurm says is left]
    #[arg(long, help_heading = STOPPING_HEADING, value_name = "HH:MM:SS")]
    time_limit: Option<TimeLimit>,
}

const STOPPING_HEADING: &str = "Stopping and going on";

impl FitArgs {
    /// Whether an earlier run may have come to some point.
    pub fn resumes(&self) -> bool {
        self.resume
    }
}

pub(super) fn run(context: &Context<'_>, args: &FitArgs) -> Result<()> {
    let Context { world, console, control, .. } = context;
    if args.metric == "help" {
        console.line(catalogue_help());
        return Ok(());
    }
    let request = world.agree(args.check(context.overwrite))?;
    let initial = request.load_initial(world)?;
    let mut existing =
        ExistingOutput::inspect(context, args.files(&request), &request.fingerprint(&initial))?;
    if request.checkpoint_policy.is_some() {
        control.enable_graceful_stop(world, args.time_limit);
    }
    let mut phases = Phases::new();
    let (shard, plan) = request.load(world, &initial, |plan| output::print_plan(context, &request, plan))?;
    fault::inject(world.rank(), "load")?;
    phases.end("load");
    if let Some(reason) = control.stop_requested(world, Duration::ZERO) {
        let stopped = format!("{reason}: stopped after loading, {}", existing.progress_note());
        return world.agree(Err(Error::Stopped(stopped)));
    }
    let data = FitData::new(world, &shard);
    output::print_warnings(context, &request, &data.population);
    let problem = request.problem(&data, initial);
    let facts = || json!({ "metric": request.metric.text(), "k": request.k });
    if existing.is_complete(context, &problem.fingerprint(), facts)? {
        return Ok(());
    }
    let progress = ConsoleProgress::new(console);
    let mut finished = request.run(world, problem, control, &progress, || phases.end("fit"))?;
    finished.session.remove(&progress);
    phases.end("write");
    phases.max_over_ranks(world);
    if let Some(fit) = &finished.fit {
        output::print_result(context, &request, fit, &phases);
    }
    console.json(world, || json_summary::json_summary(context, &request, &shard, &finished, &phases, &plan))
}

/// Returns what the command would load.
pub(super) fn load_request(args: &FitArgs, overwrite: Overwrite) -> Result<LoadRequest> {
    let request = args.check(overwrite)?;
    Ok(LoadRequest { extra: request.extra_memory(), options: request.load })
}
