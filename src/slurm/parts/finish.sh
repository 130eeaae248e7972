
# The most times that the job requeues itself.
restarts=${MACROK_RESTARTS:-@RESTARTS@}

# Ends the job. Status 75 means that macrok stopped early and can resume: the job requeues itself.
finish() {
    local status=$1 job=$SLURM_JOB_ID count=${SLURM_RESTART_COUNT:-0} state
    if [ "$status" -ne 75 ]; then
        exit "$status"
    fi
    # SLURM_JOB_ID of an array task may be that of the whole array.
    if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
        job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
    fi
    # After scancel, scontrol requeue or a preemption the job is no longer running.
    state=$(squeue --noheader --jobs="$job" --format=%T)
    if [ "$state" != RUNNING ]; then
        echo "job $job stopped early and is ${state:-unknown to Slurm}, so it does not requeue itself" >&2
    elif [ "$count" -ge "$restarts" ]; then
        echo "job $job stopped early and was restarted $count times, the most that MACROK_RESTARTS allows;" \
            "submit it again with a longer --time to resume" >&2
    else
        # The requeue ends this script.
        echo "job $job stopped early and is requeued, restart $((count + 1)) of at most $restarts"
        scontrol requeue "$job" || echo "Slurm did not requeue job $job; submit it again to resume" >&2
    fi
    exit 75
}
