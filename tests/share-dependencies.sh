#!/bin/sh
# Fills a new target folder with the compiled dependencies of another, except those that depend on the MPI.
# Usage: tests/share-dependencies.sh TARGET/debug OTHER-TARGET/debug
set -eu
from=$1 to=$2
[ -d "$from/deps" ] && [ ! -e "$to" ] || exit 0
mkdir -p "$to/deps"
cp -a "$from/build" "$from/.fingerprint" "$to"
find "$from/deps" -maxdepth 1 -type f ! -name '*macrok*' ! -name 'program-*' ! -name 'library-*' -exec cp -a -t "$to/deps" {} +
rm -rf "$to"/.fingerprint/mpi-* "$to"/.fingerprint/macrok-* "$to"/build/mpi-* "$to"/build/macrok-*
