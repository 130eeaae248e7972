//! `macrok doctor`: what the job is like, and what is wrong with it.

use std::path::PathBuf;

use super::common::Context;
use crate::doctor::{ExamineRequest, examine, findings, print_report, report_json};
use crate::error::{Result, usage};
use crate::load::LoadOptions;
use crate::machine::Threads;
use crate::store::{Location, Role};

/// Show ranks, threads, binding, memory, file systems and libraries, and what is wrong with them
///
/// Start it as the run is going to be started: on as many nodes, by the same launcher. It takes a few seconds.
/// The exit status is that of a run: 0 when it could begin, with warnings or without, and 2 when the data cannot
/// be loaded.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  macrok doctor
  macrok synth data.h5
  mpirun -n 2 macrok doctor --data data.h5 --labels data.h5")]
pub(super) struct DoctorArgs {
    /// Marginals that a fit would load: FILE.h5 or FILE.h5:GROUP
    #[arg(long, value_name = "FILE[:GROUP]")]
    data: Option<String>,
    /// True labels that it would load with them
    #[arg(long, value_name = "FILE[:GROUP]", requires = "data")]
    labels: Option<String>,
    /// The folder it would write into
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    out: PathBuf,
}

pub(super) fn run(context: &Context<'_>, args: &DoctorArgs, threads: &Threads) -> Result<()> {
    let Context { world, console, .. } = context;
    world.on_root(|| {
        if args.out.is_dir() {
            return Ok(());
        }
        usage(format!(
            "--out is {}, but that is no folder; name the folder that outputs go to",
            args.out.display()
        ))
    })?;
    let load = args.data.as_ref().map(|data| LoadOptions {
        marginals: Location::parse(data, Role::Marginals),
        labels: args.labels.as_ref().map(|labels| Location::parse(labels, Role::Labels)),
        clamp: false,
    });
    let (job, problem) = examine(world, &ExamineRequest { load: load.as_ref(), folder: &args.out, threads });
    // Only rank 0 has heard all the others.
    let judged = job.map(|job| {
        let findings = findings(&job);
        print_report(console, &job, &findings);
        (job, findings)
    });
    console.json(world, || {
        judged.map_or_else(Default::default, |(job, findings)| report_json(&job, &findings))
    })?;
    problem.map_or(Ok(()), Err)
}
