
# Goes on where an earlier run of this job stopped; where there was none, begins.
[[ " $* " == *" --resume "* ]] || set -- "$@" --resume
launch @COMMAND@ "$@"
finish $?
