
# Resumes an earlier run of this job, if there was one.
[[ " $* " == *" --resume "* ]] || set -- "$@" --resume
launch @COMMAND@ "$@"
finish $?
