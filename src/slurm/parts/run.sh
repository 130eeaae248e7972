
# Steps that an earlier run of this job finished are not repeated.
launch run "$@"
finish $?
