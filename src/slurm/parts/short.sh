
# A job that is restarted, after the loss of a node, replaces its output.
if [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && [[ " $* " != *" --force "* ]]; then
    set -- "$@" --force
fi
launch @COMMAND@ "$@"
