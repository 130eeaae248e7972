#!/bin/sh
# Runs one step of `make check` or `make test` and reports how long it took. Steps that run at the same time have STEPS, a
# folder for their output: each keeps its own there, and shows it when it ends.
# Usage: tests/step.sh NAME COMMAND [ARGUMENT...]
set -eu

name=$1
shift
printf '\n==> %s  %s\n' "$(date +%T)" "$name"
# A client of make's job server would wait for the slots that steps hold.
unset MAKEFLAGS MFLAGS MAKELEVEL
[ -n "${STEPS:-}" ] || exec "$@"

log=$STEPS/$(echo "$name" | tr ' ' '-').log
start=$(date +%s)
status=0
"$@" >"$log" 2>&1 || status=$?
outcome=done
[ $status -eq 0 ] || outcome="FAILED with status $status"
took=$(($(date +%s) - start))
printf '%5d s  %s\n' $took "$name" >>"$STEPS/times"
printf '\n==> %s  %s: %s after %d s\n%s\n' "$(date +%T)" "$name" "$outcome" $took "$(cat "$log")"
exit $status
