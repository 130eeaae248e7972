//! Environment variables that launchers set for each rank.

/// The number of the Slurm job, set for all its processes.
pub const SLURM_JOB_ID: &str = "SLURM_JOB_ID";

/// The variables of one launcher.
pub struct LauncherVariables {
    /// A variable that only this launcher sets, or a later one in the list.
    pub sign: &'static str,
    /// The name of the launcher in messages.
    pub launcher: &'static str,
    pub rank: &'static str,
    pub size: &'static str,
}

const fn variables(
    sign: &'static str,
    launcher: &'static str,
    rank: &'static str,
    size: &'static str,
) -> LauncherVariables {
    LauncherVariables { sign, launcher, rank, size }
}

/// All known launchers. Those that also set variables of others come first.
const LAUNCHERS: [LauncherVariables; 9] = [
    variables("OMPI_COMM_WORLD_SIZE", "mpirun of Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    variables("PALS_RANKID", "PALS", "PALS_RANKID", "PALS_SIZE"),
    variables("MV2_COMM_WORLD_RANK", "mpirun of MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    variables("HYDI_CONTROL_FD", "mpirun of MPICH", "PMI_RANK", "PMI_SIZE"),
    variables("SLURM_STEP_ID", "srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    variables("PMI_RANK", "mpirun of MPICH", "PMI_RANK", "PMI_SIZE"),
    variables("PMIX_RANK", "a PMIx launcher", "PMIX_RANK", "PMIX_SIZE"),
    variables("MPI_LOCALRANKID", "mpirun of MPICH", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    variables("MPIRUN_RANK", "mpirun_rsh", "MPIRUN_RANK", "MPIRUN_NPROCS"),
];

impl LauncherVariables {
    /// Returns the variables of the launcher that started this process, if any.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<&'static LauncherVariables> {
        LAUNCHERS.iter().find(|launcher| variable(launcher.sign).is_some())
    }

    /// Whether a launcher of MPI started this process. When srun does so, it also sets the variables of PMI or PMIx.
    #[cfg(feature = "mpi")]
    pub(super) fn any_of_mpi() -> bool {
        let is_set = |name: &str| std::env::var_os(name).is_some();
        LAUNCHERS.iter().any(|found| found.launcher != "srun" && (is_set(found.rank) || is_set(found.size)))
    }
}
