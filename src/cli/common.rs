//! Parts that all commands share: global options, ranks, threads, log, console.

use std::path::{Path, PathBuf};

use tracing_subscriber::filter::LevelFilter;

use super::values::{above_0_to, within};
use crate::error::{Result, usage};
use crate::job::StopControl;
use crate::load::{ExtraMemory, LoadOptions};
use crate::report::Console;
use crate::store::Overwrite;
use crate::world::World;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum LogFormat {
    Text,
    Json,
}

pub(super) const GLOBAL_HEADING: &str = "Options of every command";

/// Options of every command.
#[derive(clap::Args)]
#[command(next_help_heading = GLOBAL_HEADING)]
pub(super) struct GlobalArgs {
    /// Log on standard error: -v for the main steps, -vv for details
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Print neither progress nor tables; warnings and errors still appear
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Format of log lines
    #[arg(long, global = true, value_enum, default_value = "text", value_name = "FORMAT")]
    pub log_format: LogFormat,
    /// Threads per rank [default: SLURM_CPUS_PER_TASK, OMP_NUM_THREADS, or this rank's share of the processors]
    #[arg(long, global = true, value_name = "N", value_parser = within(1usize..))]
    pub threads: Option<usize>,
    /// End the job when a rank has waited this long for others and none has made progress; 0 waits for ever
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 600.0,
          value_parser = within(0.0..=1e9))]
    pub stall_timeout: f64,
    /// Write the results as JSON too; `-` is standard output
    #[arg(long, global = true, value_name = "FILE")]
    pub json: Option<String>,
    /// Replace existing output files
    #[arg(long, global = true)]
    pub force: bool,
}

/// The surroundings a command runs in.
pub(super) struct Context<'w> {
    pub world: &'w World,
    pub console: Console,
    pub overwrite: Overwrite,
    pub threads: usize,
    pub control: StopControl,
    json: Option<PathBuf>,
}

impl<'w> Context<'w> {
    /// `resume` means that an earlier run of the same command may have written the JSON file.
    pub fn new(world: &'w World, global: &GlobalArgs, resume: bool, threads: usize) -> Result<Self> {
        let json = global.json.as_deref();
        let overwrite = Overwrite::from_force(global.force);
        let console = Console::new(world, json, Overwrite::from_force(global.force || resume), global.quiet)?;
        let json = json.filter(|&path| path != "-").map(PathBuf::from);
        Ok(Context { world, console, overwrite, threads, control: StopControl::new(), json })
    }

    /// Refuses an output that exists, or that is an input or the JSON file, before any work is done.
    pub fn check_output(&self, path: &Path, inputs: &[&Path]) -> Result<()> {
        self.world.on_root(|| {
            self.check_distinct_paths(path, inputs)?;
            Ok(self.overwrite.check(path)?)
        })
    }

    /// Refuses an output that is an input or the JSON file. For rank 0.
    pub fn check_distinct_paths(&self, path: &Path, inputs: &[&Path]) -> Result<()> {
        let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.into());
        if self.json.as_ref().is_some_and(|json| whole(json) == whole(path)) {
            return usage(format!("{}: used both for --json and as an output", path.display()));
        }
        let real = |path: &Path| path.canonicalize().ok();
        if inputs.iter().any(|input| real(input).is_some_and(|input| real(path) == Some(input))) {
            return usage(format!("{}: is an input of this command; write to another file", path.display()));
        }
        Ok(())
    }

    /// Fails on all ranks unless `condition`, which they all know, holds.
    pub fn require(&self, condition: bool, message: impl FnOnce() -> String) -> Result<()> {
        self.world.agree(if condition { Ok(()) } else { usage(message()) })
    }
}

/// Starts the log, on standard error of every rank.
pub(super) fn init_logging(world: &World, verbose: u8, format: LogFormat) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let builder =
        tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_ansi(false);
    // A second start (in tests) keeps the first log.
    let _ = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    tracing::info!(rank = world.rank(), ranks = world.size(), mpi = crate::world::mpi_library(), "started");
}

/// The constants of the propensity model of Jain et al. 2016.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct PropensityModel {
    /// A of the propensity model
    #[arg(long, default_value_t = 0.55, value_name = "A", value_parser = above_0_to(10.0))]
    pub propensity_a: f64,
    /// B of the propensity model
    #[arg(long, default_value_t = 1.5, value_name = "B", value_parser = above_0_to(10.0))]
    pub propensity_b: f64,
}

/// Data that a command is going to load, and the memory it needs for its own work on them.
pub(super) struct LoadRequest {
    pub options: LoadOptions,
    pub extra: ExtraMemory,
}
