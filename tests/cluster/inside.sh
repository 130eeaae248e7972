#!/bin/bash
# The first process in the namespaces that run.sh makes: prepares them, then runs the command. As process 1 it must reap
# orphans, as bash does; when it ends, the kernel ends all others.
set -euo pipefail

mount --make-rprivate /
# Private to this run: sockets, spools and logs of the daemons, and the files of the tests.
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
# The project or its program may be in /tmp.
case ":$PWD:${MACROK_BIN:-}" in
*:/tmp/*) ;;
*) mount -t tmpfs -o mode=1777 tmpfs /tmp ;;
esac
mkdir -p /run/sshd /run/cluster/tmp
export TMPDIR=/run/cluster/tmp

hostname control
{
    echo "127.0.0.1 localhost"
    echo "10.99.0.254 control"
    for i in 1 2 3 4; do echo "10.99.0.$i n$i"; done
    for i in 1 2; do echo "10.99.0.10$i w$i"; done
} >/run/cluster/hosts
mount --bind /run/cluster/hosts /etc/hosts
ip link set lo up
ip link add name cluster type bridge
ip addr add 10.99.0.254/24 dev cluster
ip link set cluster up

status=0
"$@" || status=$?
exit "$status"
