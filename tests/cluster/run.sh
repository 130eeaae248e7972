#!/bin/sh
# Runs a command in new namespaces for processes, network, mounts, host name and IPC, where it can start a cluster. It
# reaches no other network and does not disturb other runs. When the command ends or is killed, the kernel removes all its
# processes, links and mounts; its files are in memory and disappear with them. On a machine that does not allow that it
# prints a line that begins with SKIPPED and succeeds, or fails where CI is set.
# Usage: tests/cluster/run.sh COMMAND [ARGUMENT...]
set -eu

here=$(cd "$(dirname "$0")" && pwd)

skip() {
    sh "$here/../skip.sh" "cluster tests ($1)"
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

# Every process of this run, down to the last job step, has this in its environment.
MACROK_CLUSTER_RUN=$(cat /proc/sys/kernel/random/uuid)
export MACROK_CLUSTER_RUN
status=0
# This shell must outlive the command, to look for leftovers.
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
