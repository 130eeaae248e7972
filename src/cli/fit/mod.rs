//! `macrok fit`: Frank-Wolfe.

mod facts;
pub(super) mod options;
mod ready;
mod shown;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::common::{Context, Loads};
use super::earlier::Earlier;
use crate::checkpoint::Fingerprint;
use crate::classifier_file::ClassifierFile;
use crate::error::{Error, Result};
use crate::fault;
use crate::job::TimeLimit;
use crate::load::{Extra, Plan, load_planned};
use crate::measure::{Population, catalogue_help};
use crate::optimize::{Data, Finished, Initial, Origin, Task, asked, fit};
use crate::report::Phases;
use crate::shard::Shard;
use crate::store::Overwrite;

use options::FitOptions;
use ready::Ready;
use shown::Shown;

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
    #[command(flatten)]
    how: FitOptions,
    /// Seed of --init random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Move marginals outside [0, 1] to the nearer end instead of refusing them
    #[arg(long)]
    clamp: bool,
    /// Go on from the checkpoint of a fit that was stopped; without one, begin
    #[arg(long, help_heading = STOPPING)]
    resume: bool,
    /// Where to keep how far the fit has come [default: the --out file with .checkpoint appended]
    #[arg(long, help_heading = STOPPING, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Iterations from one checkpoint to the next; 0 keeps none
    #[arg(long, help_heading = STOPPING, default_value_t = 1, value_name = "N")]
    checkpoint_every: usize,
    /// Stop in time to be resumed, as `sbatch --time` has it [default: what Slurm says is left]
    #[arg(long, help_heading = STOPPING, value_name = "HH:MM:SS")]
    time_limit: Option<TimeLimit>,
}

const STOPPING: &str = "Stopping and going on";

impl Typed {
    /// Whether an earlier run may have come to some point.
    pub fn resumes(&self) -> bool {
        self.resume
    }
}

pub(super) fn run(context: &Context<'_>, typed: &Typed) -> Result<()> {
    let Context { world, console, control, .. } = context;
    if typed.metric == "help" {
        console.line(catalogue_help());
        return Ok(());
    }
    let ready = world.agree(typed.check(context.overwrite))?;
    let start = load_start(context, &ready)?;
    let asked = asked(&ready.metric, &start, &ready.options(1));
    let mut earlier = Earlier::look(context, ready.files(), &asked)?;
    if ready.keep.is_some() {
        control.stop_in_order(world, typed.time_limit);
    }
    let mut phases = Phases::new();
    let (shard, plan) = load(context, &ready, &start)?;
    fault::at(world.rank(), "load")?;
    phases.end("load");
    if let Some(reason) = control.asked(world, Duration::ZERO) {
        let stopped = format!("{reason}: stopped after loading, {}", earlier.standing());
        return world.agree(Err(Error::Stopped(stopped)));
    }
    let data = Data::new(world, &shard);
    let options = ready.options(shard.total_rows);
    shown::warn(context, &ready.metric.bind(options.k, options.epsilon), &data.population);
    let task = Task { data: &data, metric: &ready.metric, initial: start, options };
    let made_from = task.facts();
    if earlier.is_complete(context, &made_from, || json!({ "metric": ready.metric.text(), "k": ready.k }))? {
        return Ok(());
    }
    let mut shown = Shown::new(console);
    let mut finished = fit(world, task, ready.keep.as_ref(), control, &mut shown)?;
    phases.end("fit");
    write(context, &ready, &finished, &data.population, &made_from)?;
    finished.remove_checkpoint(&mut shown);
    phases.end("write");
    phases.slowest(world);
    if let Some(fit) = &finished.fit {
        shown::result(context, &ready, fit, &phases);
    }
    console.json(world, || facts::facts(context, &ready, &shard, &finished, &phases, &plan))
}

/// What it is going to load.
pub(super) fn loads(typed: &Typed, overwrite: Overwrite) -> Result<Loads> {
    let ready = typed.check(overwrite)?;
    Ok(Loads { extra: extra(&ready), options: ready.load })
}

/// What it makes of the rows.
fn extra(ready: &Ready<'_>) -> Extra {
    let labelled = ready.load.labels.is_some();
    if ready.keep.is_some() { Extra::fitting(labelled) } else { Extra::counting(labelled) }
}

fn load(context: &Context<'_>, ready: &Ready<'_>, start: &Initial) -> Result<(Shard, Plan)> {
    let k = ready.k;
    let mut planned = None;
    let shard = load_planned(context.world, &ready.load, extra(ready), |plan| {
        let labels = plan.labels as usize;
        context.check(k <= labels, || {
            format!("-k is {k}, but {} has only {labels} labels", ready.load.marginals)
        })?;
        if let Initial::Given(mixture) = start {
            let given = mixture.rules[0].labels();
            context.check(given == labels, || {
                format!("--init {} is for {given} labels, but the data have {labels}", ready.typed.how.init)
            })?;
        }
        shown::describe(context, ready, plan);
        planned = Some(plan.clone());
        Ok(())
    })?;
    Ok((shard, planned.expect("what is loaded was planned")))
}

/// Rank 0 has the classifier; the others take part in writing it.
fn write(
    context: &Context<'_>,
    ready: &Ready<'_>,
    finished: &Finished,
    population: &Population,
    made_from: &Fingerprint,
) -> Result<()> {
    let seed = ready.typed.seed;
    let file = finished
        .fit
        .as_ref()
        .map(|fit| ClassifierFile::of_fit(fit, &ready.metric, seed, population, made_from));
    ClassifierFile::write(file.as_ref(), context.world, &ready.out, context.overwrite)
}

/// The initial classifier; a file is read by rank 0's peers too, they need its rules.
fn load_start(context: &Context<'_>, ready: &Ready<'_>) -> Result<Initial> {
    Ok(match &ready.search.origin {
        Origin::TopK => Initial::TopK,
        Origin::Random => Initial::Random { seed: ready.typed.seed },
        Origin::Prior => Initial::Prior,
        Origin::File(path) => {
            let file = ClassifierFile::read(path).map_err(Into::into);
            Initial::Given(context.world.agree(file)?.mixture)
        }
    })
}
