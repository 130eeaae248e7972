#!/bin/sh
# Lists how long each step of `make check` or `make test` took, and what the tests skipped.
# Usage: tests/summary.sh FOLDER
printf '\nSteps, some of them at the same time:\n'
cat "$1/times" 2>/dev/null
skipped=$(cat "$1"/*.log 2>/dev/null | grep -o 'SKIPPED.*' | sort -u)
[ -z "$skipped" ] || printf '\nNot tested on this machine:\n%s\n' "$skipped"
