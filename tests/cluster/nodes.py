"""Nodes on one machine: each has a host name, an address, processes and /dev/shm. Files are shared, as on a cluster."""

import os
import subprocess
from pathlib import Path

from process import PATIENCE, limited, run, until


def links():
    """Returns the network links in this namespace. /sys may show those of the machine instead."""
    lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()[2:]
    return sorted(line.partition(":")[0].strip() for line in lines)


INIT = """
hostname "$1"
mount -t tmpfs tmpfs /dev/shm
ip link set lo up
: > "$2"
# Process 1 only reaps the orphans of its node.
while :; do sleep 1000 & wait $!; done
"""


class Node:
    """A node that runs until `power_off`."""

    def __init__(self, name, folder, address):
        self.name, self.address = name, address
        self.temporary = folder / "tmp" / name
        self.temporary.mkdir(parents=True, exist_ok=True)
        self.started = []
        self._boot(folder)

    def _boot(self, folder):
        ready = folder / f"{self.name}.ready"
        apart = ["unshare", "--net", "--uts", "--ipc", "--pid", "--mount", "--mount-proc", "--fork", "--kill-child"]
        with open(folder / f"{self.name}.log", "a", encoding="utf-8") as log:
            self.holder = subprocess.Popen(
                [*apart, "bash", "-c", INIT, "node-init", self.name, ready],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        until(ready.exists, f"node {self.name} to start, see {log.name}", 10, pause=0.01)
        ready.unlink()
        children = Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children")
        self.init = int(children.read_text(encoding="ascii").split()[0])
        # The outer end of the cable is named after the node.
        run("ip", "link", "add", "name", self.name, "type", "veth", "peer", "name", "eth0", "netns", self.init)
        run("ip", "link", "set", self.name, "master", "cluster", "up")
        run("nsenter", "-t", self.init, "-n", "ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        run("nsenter", "-t", self.init, "-n", "ip", "link", "set", "eth0", "up")

    def inside(self, command, folder=None):
        """Returns the command that runs `command` on this node."""
        enter = ["nsenter", "-t", self.init, "-n", "-u", "-i", "-p", "-m", f"--wd={folder or os.getcwd()}", "--"]
        return [*map(str, enter), *map(str, command)]

    def run(self, *command, seconds=30, folder=None, **options):
        # Signals to `nsenter` do not reach the node, so the limit is inside.
        return run(*self.inside(limited(command, seconds), folder), seconds=seconds + 2, **options)

    def start(self, command, log, **options):
        """Starts a daemon that ends with the node."""
        with open(log, "a", encoding="utf-8") as out:
            daemon = subprocess.Popen(
                self.inside(command), stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, **options
            )
        self.started.append(daemon)
        return daemon

    def unplug(self):
        """Disconnects the node; the others only notice that nothing arrives."""
        run("ip", "link", "set", self.name, "down")

    def plug(self):
        run("ip", "link", "set", self.name, "up")

    def power_off(self):
        """Ends all processes without warning."""
        # The cable goes first, or the kernel would close the connections of the processes.
        if self.name in links():
            run("ip", "link", "delete", "dev", self.name)
        if self.holder.poll() is None:
            os.kill(self.init, 9)
        self.holder.wait(PATIENCE * 10)
        for daemon in self.started:
            daemon.wait(PATIENCE * 10)
        self.started.clear()
