
# The program, on every node.
macrok=${MACROK:-@PROGRAM@}
# How ranks find each other: pmix for Open MPI, pmi2 for MPICH and Intel MPI. `srun --mpi=list` shows what Slurm has.
mpi=${MACROK_MPI:-@MPI@}

# Runs macrok on all ranks, each bound to its cores. srun does not take the CPUs of a task from the job by itself; -K
# ends all ranks when one has failed.
launch() {
    srun -K --mpi="$mpi" --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --cpu-bind=cores "$macrok" "$@"
}
