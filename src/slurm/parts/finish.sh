
# How often the job may put itself back into the queue.
restarts=${MACROK_RESTARTS:-@RESTARTS@}

# Ends the job. Status 75 says that macrok stopped early and can go on: then the job goes back into the queue.
finish() {
    local status=$1 job=$SLURM_JOB_ID count=${SLURM_RESTART_COUNT:-0} state
    if [ "$status" -ne 75 ]; then
        exit "$status"
    fi
    # The number of an array's task may be that of the whole array.
    if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
        job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
    fi
    # After scancel, scontrol requeue or a preemption, Slurm has decided already.
    state=$(squeue --noheader --jobs="$job" --format=%T)
    if [ "$state" != RUNNING ]; then
        echo "job $job stopped early and is ${state:-unknown to Slurm}, so it does not requeue itself" >&2
    elif [ "$count" -ge "$restarts" ]; then
        echo "job $job stopped early and was restarted $count times, the most that MACROK_RESTARTS allows;" \
            "submit it again to go on, with a longer --time" >&2
    else
        # Said first: the requeue is the end of this script.
        echo "job $job stopped early and goes back into the queue, restart $((count + 1)) of at most $restarts"
        scontrol requeue "$job" || echo "Slurm did not requeue job $job; submit it again to go on" >&2
    fi
    exit 75
}
