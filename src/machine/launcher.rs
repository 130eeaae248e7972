//! The launcher and the scheduler that started this process, from their environment variables.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::world::{LauncherVariables, SLURM_JOB_ID};

/// Facts from the launcher and the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launcher {
    /// `None` when no launcher started this process.
    pub name: Option<String>,
    /// The number of ranks it started.
    pub ranks: Option<usize>,
    /// The Slurm job of this process, whether or not Slurm started it.
    pub slurm_job: Option<String>,
    /// The number of tasks of that job.
    pub slurm_tasks: Option<usize>,
    /// The number of processors that the job has on this node.
    pub slurm_processors: Option<usize>,
    /// Started by `srun --mpi=pmix` with Slurm's defaults: ranks do not wait for those of other nodes before they send the
    /// first message.
    pub rushed: bool,
}

impl Launcher {
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Launcher {
        let number = |name: &str| variable(name)?.trim().parse().ok();
        let found = LauncherVariables::find(&variable);
        let slurm_job = variable(SLURM_JOB_ID).filter(|id| !id.is_empty());
        let of_job = |name: &str| slurm_job.as_ref().and_then(|_| number(name));
        let pmix = found.is_some_and(|found| found.launcher == "srun") && variable("PMIX_RANK").is_some();
        Launcher {
            rushed: pmix && variable("SLURM_PMIX_FENCE").is_none_or(|way| way != "ring"),
            name: found.map(|found| found.launcher.to_owned()),
            ranks: found.and_then(|found| number(found.size)),
            slurm_tasks: of_job("SLURM_NTASKS"),
            slurm_processors: of_job("SLURM_CPUS_ON_NODE"),
            slurm_job,
        }
    }
}

/// Follows a number of ranks: `started by mpirun of Open MPI in Slurm job 17`.
impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "started by {name}")?,
            None => write!(f, "started without a launcher")?,
        }
        match &self.slurm_job {
            Some(job) => write!(f, " in Slurm job {job}"),
            None => Ok(()),
        }
    }
}
