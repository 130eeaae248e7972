//! What every command shares: ranks, threads, log, console.

use std::path::{Path, PathBuf};

use tracing_subscriber::filter::LevelFilter;

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
    /// `resume` says that an earlier run of the same command may have written the JSON file.
    pub fn new(
        world: &'w World,
        json: Option<&str>,
        force: bool,
        resume: bool,
        threads: usize,
    ) -> Result<Self> {
        let overwrite = Overwrite::from_force(force);
        let console = Console::new(world, json, Overwrite::from_force(force || resume))?;
        let json = json.filter(|&path| path != "-").map(PathBuf::from);
        Ok(Context { world, console, overwrite, threads, control: StopControl::new(), json })
    }

    /// Refuses an output that is there, or that is an input or the JSON file, before any work is done.
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
            return usage(format!("{}: given for --json and as an output too", path.display()));
        }
        let real = |path: &Path| path.canonicalize().ok();
        if inputs.iter().any(|input| real(input).is_some_and(|input| real(path) == Some(input))) {
            return usage(format!("{}: is an input of this command; write to another file", path.display()));
        }
        Ok(())
    }

    /// Fails on every rank alike when the options, which all ranks have, do not fit.
    pub fn require(&self, fits: bool, message: impl FnOnce() -> String) -> Result<()> {
        self.world.agree(if fits { Ok(()) } else { usage(message()) })
    }
}

/// Log lines go to standard error, of every rank, with the rank in them.
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
    #[arg(long, default_value_t = 0.55, value_name = "A")]
    pub propensity_a: f64,
    /// B of the propensity model
    #[arg(long, default_value_t = 1.5, value_name = "B")]
    pub propensity_b: f64,
}

impl PropensityModel {
    /// Returns A and B.
    pub fn check(self) -> Result<(f64, f64)> {
        let constants = [("--propensity-a", self.propensity_a), ("--propensity-b", self.propensity_b)];
        for (name, value) in constants {
            if !(value > 0.0 && value <= 10.0) {
                return usage(format!("{name} is {value}, but must be above 0 and at most 10"));
            }
        }
        Ok((self.propensity_a, self.propensity_b))
    }
}

/// What a command is going to load, and what it makes of it.
pub(super) struct LoadRequest {
    pub options: LoadOptions,
    pub extra: ExtraMemory,
}
