"""Computers on one computer: each node has its own host name, address, processes and /dev/shm. Files are shared, as on
the file system of a cluster."""

import os
import subprocess
from pathlib import Path

from process import PATIENCE, limited, run, until


def links():
    """Network links that this place has. /sys may still show those of the machine around it."""
    lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()[2:]
    return sorted(line.partition(":")[0].strip() for line in lines)


INIT = """
hostname "$1"
mount -t tmpfs tmpfs /dev/shm
ip link set lo up
: > "$2"
# Process 1 takes in the orphans of its node, and that is all it does.
while :; do sleep 1000 & wait $!; done
"""


class Node:
    """A node that is up from its making until `down`."""

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
        # The end on the outside is the cable; it is named after the node, and goes with it.
        run("ip", "link", "add", "name", self.name, "type", "veth", "peer", "name", "eth0", "netns", self.init)
        run("ip", "link", "set", self.name, "master", "cluster", "up")
        run("nsenter", "-t", self.init, "-n", "ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        run("nsenter", "-t", self.init, "-n", "ip", "link", "set", "eth0", "up")

    def inside(self, command, folder=None):
        """The command, made to run on this node."""
        enter = ["nsenter", "-t", self.init, "-n", "-u", "-i", "-p", "-m", f"--wd={folder or os.getcwd()}", "--"]
        return [*map(str, enter), *map(str, command)]

    def run(self, *command, seconds=30, folder=None, **options):
        # The limit is inside: a signal to `nsenter` does not get into the node.
        return run(*self.inside(limited(command, seconds), folder), seconds=seconds + 2, **options)

    def start(self, command, log, **options):
        """Starts a daemon, which ends with the node."""
        with open(log, "a", encoding="utf-8") as out:
            daemon = subprocess.Popen(
                self.inside(command), stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, **options
            )
        self.started.append(daemon)
        return daemon

    def unplug(self):
        """Takes the cable out: nothing arrives any more, and nobody is told."""
        run("ip", "link", "set", self.name, "down")

    def plug(self):
        run("ip", "link", "set", self.name, "up")

    def power_off(self):
        """Everything on it ends at once; no signal, no goodbye."""
        # The cable first, or its kernel would still say goodbye for the programs that end.
        if self.name in links():
            run("ip", "link", "delete", "dev", self.name)
        if self.holder.poll() is None:
            os.kill(self.init, 9)
        self.holder.wait(PATIENCE * 10)
        for daemon in self.started:
            daemon.wait(PATIENCE * 10)
        self.started.clear()
