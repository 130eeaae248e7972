
# The program, on every node.
macrok=${MACROK:-@PROGRAM@}
# The plugin by which ranks find each other: pmix for Open MPI, pmi2 for MPICH and Intel MPI. `srun --mpi=list` lists them.
mpi=${MACROK_MPI:-@MPI@}
# By default, ranks do not wait for those of other nodes when they start (seen in Slurm 22.05): sometimes Open MPI receives a
# message before it is ready, and crashes. With this setting they wait.
export SLURM_PMIX_FENCE=${SLURM_PMIX_FENCE:-ring}

# Runs macrok on all ranks, each bound to its cores. srun does not inherit the CPUs per task from the job; -K ends all ranks
# when one fails.
launch() {
    srun -K --mpi="$mpi" --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --cpu-bind=cores "$macrok" "$@"
}
