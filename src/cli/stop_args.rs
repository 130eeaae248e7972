//! Options of the commands that can be stopped and resumed.

use std::path::{Path, PathBuf};

use crate::checkpoint::{CheckpointPolicy, ExistingCheckpoint};
use crate::job::TimeLimit;
use crate::store::Overwrite;

pub(super) const STOPPING_HEADING: &str = "Stopping and resuming";

/// Options for stopping and resuming.
#[derive(clap::Args)]
#[command(next_help_heading = STOPPING_HEADING)]
pub(super) struct StopArgs {
    /// Resume from the checkpoint of an earlier run; without a checkpoint, start from the beginning
    #[arg(long)]
    pub resume: bool,
    /// Checkpoint file [default: the --out file with .checkpoint appended]
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Stop early enough to save a checkpoint within this time, written as for `sbatch --time` [default: the time
    /// that Slurm has left]
    #[arg(long, value_name = "[D-]HH:MM:SS")]
    pub time_limit: Option<TimeLimit>,
}

impl StopArgs {
    /// Returns the policy of a command that writes `out` and a checkpoint every `interval` steps.
    pub fn checkpoint_policy(&self, out: &Path, interval: usize, overwrite: Overwrite) -> CheckpointPolicy {
        let existing = ExistingCheckpoint::from_options(self.resume, overwrite);
        CheckpointPolicy::for_output(out, self.checkpoint.clone(), interval, existing)
    }
}
