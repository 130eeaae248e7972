//! `macrok run`: runs the experiment of a job file.

mod clap_section;
mod data;
mod document;
mod inputs;
mod item;
mod job;
mod output;
mod paths;
mod problem;
mod sections;
mod skeleton;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use self::document::Document;
use self::paths::PathResolver;
use super::common::Context;
use crate::error::{Error, Result, usage};
use crate::experiment::{Experiment, Folder, ReusePolicy, RunContext, plan, run_experiment};
use crate::job::TimeLimit;
use crate::report::Phases;
use crate::store::{Overwrite, StoreError};

/// Run a whole experiment described by a job file: fit, evaluate and compare
///
/// A job file names data, values of k, metrics and strategies. All combinations are fitted and evaluated in one run
/// and compared in one table. Results of earlier runs are reused.
#[derive(clap::Args)]
#[command(override_usage = "macrok run <JOB.toml> [OPTIONS]
       macrok run --skeleton")]
#[command(after_long_help = "\
Example:
  macrok run --skeleton > job.toml
  macrok run job.toml --out results
  macrok run job.toml --out results --list
The skeleton is a complete job file: every key with its default and meaning. It runs as it is, on data it \
generates. A second run repeats only the steps whose inputs or options have changed; --force repeats all. \
A stopped run is resumed by the same command. The command is the same in Slurm and under mpirun.")]
pub(super) struct RunArgs {
    /// Job file
    #[arg(required_unless_present = "skeleton", value_name = "JOB.toml")]
    job: Option<PathBuf>,
    /// Folder to replace {data} in the job file
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Folder for the results [default: `out` in the job file]
    #[arg(short, long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Stop early enough to save a checkpoint within this time, written as for `sbatch --time` [default: the time
    /// that Slurm has left]
    #[arg(long, value_name = "[D-]HH:MM:SS")]
    time_limit: Option<TimeLimit>,
    /// List the steps and whether they are done, and exit
    #[arg(long)]
    list: bool,
    /// Print a complete job file, every key with its default
    #[arg(long, conflicts_with_all = ["job", "data", "out", "list"])]
    skeleton: bool,
}

pub(super) fn run(context: &Context<'_>, args: &RunArgs) -> Result<()> {
    let Context { world, console, control, .. } = context;
    let Some(path) = args.job.as_deref().filter(|_| !args.skeleton) else {
        console.result(skeleton::skeleton().trim_end());
        return Ok(());
    };
    let mut text = None;
    world.on_root(|| {
        text = Some(read_job_file(path)?);
        Ok(())
    })?;
    let text: String = world.broadcast_json(text);
    let (experiment, out) = read_experiment(context, args, path, &text)?;
    let folder = Folder::new(args.out.clone().unwrap_or(out));
    world.on_root(|| folder.check())?;
    let reuse = match context.overwrite {
        Overwrite::Replace => ReusePolicy::RedoAll,
        Overwrite::Refuse => ReusePolicy::ReuseUnchanged,
    };
    if args.list {
        let plan = plan(world, &experiment, &folder, reuse)?;
        return output::print_steps(context, &plan);
    }
    let mut lock = None;
    world.on_root(|| {
        lock = Some(folder.lock_for_run()?);
        Ok(())
    })?;
    control.enable_graceful_stop(world, args.time_limit);
    let mut phases = Phases::new();
    let plan = plan(world, &experiment, &folder, reuse)?;
    phases.end("plan");
    let (steps, done) = (plan.steps.len(), plan.to_do.iter().filter(|&&to_do| !to_do).count());
    console.line(format_args!(
        "{}: {} steps, {} reused from earlier runs; results go to {}",
        path.display(),
        steps,
        if done == 0 { "none".to_owned() } else { done.to_string() },
        folder.root().display(),
    ));
    let results = run_experiment(RunContext { world, console, folder: &folder, control }, &experiment, plan)?;
    phases.end("steps");
    world.on_root(|| results.write(&folder))?;
    phases.end("write");
    phases.max_over_ranks(world);
    output::print_results(context, &folder, &results, &phases);
    drop(lock);
    console.json(world, || output::json_summary(context, &results, (steps, done), &phases))
}

fn read_job_file(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => Error::Usage(format!(
            "{}: no such file; `macrok run --skeleton` prints a job file to start from",
            path.display()
        )),
        _ => StoreError::Io { file: path.into(), action: "read it", source }.into(),
    })?;
    let invalid = |_| usage(format!("{}: not valid UTF-8, so it cannot be a job file", path.display()));
    String::from_utf8(bytes).or_else(invalid)
}

/// Returns the bytes that each of `ranks` ranks needs, or `None` if data have yet to be generated. For one process.
pub(super) fn memory_per_rank(args: &RunArgs, ranks: usize, threads: usize) -> Result<Option<Vec<u64>>> {
    let Some(path) = args.job.as_deref() else { return Ok(None) };
    let text = read_job_file(path)?;
    let defaults = job::defaults();
    let resolver = PathResolver::new(path, args.data.as_deref());
    let document = Document::parse(&path.display().to_string(), &text)?;
    let job = job::read_job(&document, &defaults, &resolver)?;
    Ok(job.experiment.memory_per_rank(ranks, threads)?)
}

/// Returns the experiment and the output folder of the job. Collective.
fn read_experiment(
    context: &Context<'_>,
    args: &RunArgs,
    path: &Path,
    text: &str,
) -> Result<(Experiment, PathBuf)> {
    let world = context.world;
    context.require(args.data.is_none() || text.contains("{data}"), || {
        format!("--data is given, but no path in {} starts with {{data}}", path.display())
    })?;
    let defaults = job::defaults();
    let resolver = PathResolver::new(path, args.data.as_deref());
    let document = world.agree(Document::parse(&path.display().to_string(), text))?;
    let job = world.agree(job::read_job(&document, &defaults, &resolver))?;
    world.on_root(|| Ok(inputs::check_inputs(&job)?))?;
    Ok((job.experiment, job.out))
}
