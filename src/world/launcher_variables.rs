//! Environment variables that launchers set for each rank.

/// The number of the Slurm job, set for all its processes.
pub const SLURM_JOB_ID: &str = "SLURM_JOB_ID";

/// The variables of one launcher.
pub struct LauncherVariables {
    /// The name of the launcher in messages.
    pub launcher: &'static str,
    /// A variable that only this launcher sets, or one further down in the list.
    sign: &'static str,
    pub rank: &'static str,
    pub size: &'static str,
}

/// The launcher, its sign, the rank and the size. Launchers that also set variables of others come first.
#[rustfmt::skip]
const LAUNCHERS: [LauncherVariables; 9] = [
    variables(["mpirun of Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"]),
    variables(["PALS", "PALS_RANKID", "PALS_RANKID", "PALS_SIZE"]),
    variables(["mpirun of MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"]),
    variables(["mpirun of MPICH", "HYDI_CONTROL_FD", "PMI_RANK", "PMI_SIZE"]),
    variables(["srun", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"]),
    variables(["mpirun of MPICH", "PMI_RANK", "PMI_RANK", "PMI_SIZE"]),
    variables(["a PMIx launcher", "PMIX_RANK", "PMIX_RANK", "PMIX_SIZE"]),
    variables(["mpirun of MPICH", "MPI_LOCALRANKID", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"]),
    variables(["mpirun_rsh", "MPIRUN_RANK", "MPIRUN_RANK", "MPIRUN_NPROCS"]),
];

const fn variables([launcher, sign, rank, size]: [&'static str; 4]) -> LauncherVariables {
    LauncherVariables { launcher, sign, rank, size }
}

impl LauncherVariables {
    /// Returns the variables of the launcher that started this process, if any.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<&'static LauncherVariables> {
        LAUNCHERS.iter().find(|found| variable(found.sign).is_some())
    }

    /// Whether a launcher of MPI started this process. When srun does so, it also sets the variables of PMI or PMIx.
    #[cfg(feature = "mpi")]
    pub(super) fn any_of_mpi() -> bool {
        let is_set = |name: &str| std::env::var_os(name).is_some();
        LAUNCHERS.iter().any(|found| found.launcher != "srun" && (is_set(found.rank) || is_set(found.size)))
    }
}
