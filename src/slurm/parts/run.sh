
# What an earlier run of this job finished is not done again.
launch run "$@"
finish $?
