
# The program, on every node.
macrok=${MACROK:-@PROGRAM@}
# How ranks find each other: pmix for Open MPI, pmi2 for MPICH and Intel MPI. `srun --mpi=list` shows what Slurm has.
mpi=${MACROK_MPI:-@MPI@}
# Slurm's usual way to let ranks wait for each other at their start does not wait for those of other nodes (seen in 22.05).
# Now and then Open MPI is sent something before it is ready, and ends with a segmentation fault. This way does wait.
export SLURM_PMIX_FENCE=${SLURM_PMIX_FENCE:-ring}

# Runs macrok on all ranks, each bound to its cores. srun does not take the CPUs of a task from the job by itself; -K
# ends all ranks when one has failed.
launch() {
    srun -K --mpi="$mpi" --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --cpu-bind=cores "$macrok" "$@"
}
