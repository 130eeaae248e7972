//! `macrok doctor`: examines the job.

use std::path::PathBuf;

use super::common::Context;
use crate::doctor::{ExamineRequest, examine, findings, print_report, report_json};
use crate::error::{Result, usage};
use crate::load::LoadOptions;
use crate::machine::Threads;
use crate::store::{Location, Role};

/// Report ranks, threads, binding, memory, file systems and libraries, and problems with them
///
/// Start it as you will start the run: on the same number of nodes, with the same launcher. It takes a few seconds.
/// The exit status is 0 if the run could start, with or without warnings, and 2 if the data cannot be loaded.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  macrok doctor
  macrok synth probe.h5
  mpirun -n 2 macrok doctor --data probe.h5 --labels probe.h5")]
pub(super) struct DoctorArgs {
    /// Marginals that the run will load: FILE.h5 or FILE.h5:GROUP
    #[arg(long, value_name = "FILE[:GROUP]")]
    data: Option<String>,
    /// True labels that the run will load
    #[arg(long, value_name = "FILE[:GROUP]", requires = "data")]
    labels: Option<String>,
    /// Folder that the run will write to
    #[arg(short, long, value_name = "FOLDER", default_value = ".")]
    out: PathBuf,
}

pub(super) fn run(context: &Context<'_>, args: &DoctorArgs, threads: &Threads) -> Result<()> {
    let Context { world, console, .. } = context;
    world.on_root(|| {
        if args.out.is_dir() {
            return Ok(());
        }
        usage(format!("--out is {}, but must be an existing folder", args.out.display()))
    })?;
    let load = args.data.as_ref().map(|data| LoadOptions {
        marginals: Location::parse(data, Role::Marginals),
        labels: args.labels.as_ref().map(|labels| Location::parse(labels, Role::Labels)),
        clamp: false,
    });
    let (job, problem) = examine(world, &ExamineRequest { load: load.as_ref(), folder: &args.out, threads });
    // Rank 0 has the reports of all ranks.
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
