
# A job that Slurm starts again, after the loss of a node, replaces what it may have written.
if [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] && [[ " $* " != *" --force "* ]]; then
    set -- "$@" --force
fi
launch @COMMAND@ "$@"
