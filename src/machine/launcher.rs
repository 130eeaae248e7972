//! Who started this process, as the variables it set tell.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What launcher and scheduler say about the job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launcher {
    /// The program that starts ranks; `None` when nothing of the kind started this process.
    pub name: Option<String>,
    /// How many ranks it says it started.
    pub ranks: Option<usize>,
    /// The job of Slurm this process is in, whether or not Slurm started it.
    pub slurm_job: Option<String>,
    /// How many tasks that job has been given.
    pub slurm_tasks: Option<usize>,
    /// How many processors of this node that job has been given.
    pub slurm_processors: Option<usize>,
    /// Started by `srun --mpi=pmix` as Slurm does it unless told otherwise: ranks do not wait for those of other nodes
    /// before they send each other the first message.
    pub rushed: bool,
}

/// A variable that only this launcher sets, its name, and where it says how many ranks there are. Those that set
/// others' variables too come first.
const LAUNCHERS: [(&str, &str, &str); 8] = [
    ("OMPI_COMM_WORLD_SIZE", "mpirun of Open MPI", "OMPI_COMM_WORLD_SIZE"),
    ("PALS_RANKID", "PALS", "PALS_SIZE"),
    ("MV2_COMM_WORLD_RANK", "mpirun of MVAPICH", "MV2_COMM_WORLD_SIZE"),
    ("HYDI_CONTROL_FD", "mpirun of MPICH", "PMI_SIZE"),
    ("SLURM_STEP_ID", "srun", "SLURM_STEP_NUM_TASKS"),
    ("PMI_RANK", "mpirun of MPICH", "PMI_SIZE"),
    ("PMIX_RANK", "a PMIx launcher", "PMIX_SIZE"),
    ("MPI_LOCALRANKID", "mpirun of MPICH", "MPI_LOCALNRANKS"),
];

impl Launcher {
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Launcher {
        let number = |name: &str| variable(name)?.trim().parse().ok();
        let found = LAUNCHERS.iter().find(|(sign, ..)| variable(sign).is_some());
        let slurm_job = variable("SLURM_JOB_ID").filter(|id| !id.is_empty());
        let of_job = |name: &str| slurm_job.as_ref().and_then(|_| number(name));
        let pmix = found.is_some_and(|(_, name, _)| *name == "srun") && variable("PMIX_RANK").is_some();
        Launcher {
            rushed: pmix && variable("SLURM_PMIX_FENCE").is_none_or(|way| way != "ring"),
            name: found.map(|(_, name, _)| (*name).to_owned()),
            ranks: found.and_then(|(_, _, size)| number(size)),
            slurm_tasks: of_job("SLURM_NTASKS"),
            slurm_processors: of_job("SLURM_CPUS_ON_NODE"),
            slurm_job,
        }
    }
}

/// After "2 ranks": `started by mpirun of Open MPI in Slurm job 17`.
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
