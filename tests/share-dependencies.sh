#!/bin/sh
# Begins a target folder with the dependencies that another has compiled, but for those that know which MPI there is: a
# second build with another MPI need not compile the rest again.
# Usage: tests/share-dependencies.sh TARGET/debug OTHER-TARGET/debug
set -eu
from=$1 to=$2
[ -d "$from/deps" ] && [ ! -e "$to" ] || exit 0
mkdir -p "$to/deps"
cp -a "$from/build" "$from/.fingerprint" "$to"
find "$from/deps" -maxdepth 1 -type f ! -name '*macrok*' ! -name 'program-*' ! -name 'library-*' -exec cp -a -t "$to/deps" {} +
rm -rf "$to"/.fingerprint/mpi-* "$to"/.fingerprint/macrok-* "$to"/build/mpi-* "$to"/build/macrok-*
