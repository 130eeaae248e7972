#!/bin/sh
# Runs a command where it can have a cluster of its own: as root, in new namespaces for processes, network, mounts,
# host name and IPC. There is no way out to any network, another run at the same time is not in the way, and when the
# command ends, or is killed, the kernel ends all its processes, links and mounts; its files are in memory and go with
# them. Where that cannot be, it says so in a line that begins with SKIPPED, and that is a success.
# Usage: tests/cluster/run.sh COMMAND [ARGUMENT...]
set -eu

skip() {
    echo "SKIPPED: cluster tests ($1)"
    exit 0
}

[ "$(uname)" = Linux ] || skip "they need the namespaces of Linux"
[ "$(id -u)" -eq 0 ] || skip "they need root, to make namespaces and to start slurmd"
PATH=$PATH:/usr/sbin:/sbin
export PATH
missing=
for program in slurmctld slurmd munged sbatch ip sshd ssh mpirun unshare nsenter; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
[ -z "$missing" ] || skip "not found:$missing; run make deps-cluster"

apart() { unshare --mount --pid --net --ipc --uts --fork --kill-child --mount-proc "$@"; }

# shellcheck disable=SC2016 # for the inner shell
refused=$(apart sh -c 'mount -t tmpfs tmpfs /run && ip link add name bridge type bridge && ip link add name one type veth peer name other' 2>&1) ||
    skip "this system does not allow namespaces with links and mounts: $refused"

# What every process of this run has in its environment, from the first to the last job step.
MACROK_CLUSTER_RUN=$(cat /proc/sys/kernel/random/uuid)
export MACROK_CLUSTER_RUN
here=$(cd "$(dirname "$0")" && pwd)
status=0
# A signal to this shell must not end it before what it started.
trap : INT TERM HUP
apart bash "$here/inside.sh" "$@" || status=$?

left=
for environ in /proc/[0-9]*/environ; do
    process=${environ%/environ}
    [ "$process" != "/proc/$$" ] && grep -qs "$MACROK_CLUSTER_RUN" "$environ" || continue
    left="$left ${process#/proc/}($(cat "$process/comm" 2>/dev/null))"
done
if [ -n "$left" ]; then
    echo "processes were left behind:$left" >&2
    exit 1
fi
exit "$status"
