"""Workstations: nodes with an sshd, for `mpirun --host`."""

import os

from nodes import Node
from process import limited, run, until

SERVER = """
HostKey {folder}/host
AuthorizedKeysFile {folder}/key.pub
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
PidFile none
SetEnv TMPDIR={folder}
"""

CLIENT = """
Host *
  IdentityFile {folder}/key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile none
  BatchMode yes
  LogLevel ERROR
  ConnectTimeout 5
"""


class Hosts:
    def __init__(self, folder, names):
        self.folder, self.names = folder, names
        folder.mkdir(mode=0o700)
        for name in ["host", "key"]:
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name)
        public = (folder / "host.pub").read_text(encoding="ascii")
        (folder / "known_hosts").write_text("".join(f"{name} {public}" for name in names), encoding="ascii")
        (folder / "sshd_config").write_text(SERVER.format(folder=folder), encoding="ascii")
        (folder / "ssh_config").write_text(CLIENT.format(folder=folder), encoding="ascii")
        self.nodes = {}
        for number, name in enumerate(names, start=101):
            self.boot(name, f"10.99.0.{number}")

    def boot(self, name, address):
        node = self.nodes[name] = Node(name, self.folder, address)
        # sshd needs its full path, because it starts itself again for each connection.
        node.start(["/usr/sbin/sshd", "-D", "-e", "-f", self.folder / "sshd_config"], self.folder / f"sshd-{name}.log")
        ssh = ["ssh", "-F", self.folder / "ssh_config", name, "true"]
        until(lambda: node.run(*ssh, status=None).returncode == 0, f"sshd of {name} to answer", 15)

    def mpirun(self, *command, log, seconds, env=None):
        """Starts a command as two ranks on each host, from the first of them."""
        spread = ",".join(f"{name}:2" for name in self.names)
        ssh = {"OMPI_MCA_plm_rsh_args": f"-F {self.folder / 'ssh_config'}"}
        launch = limited(["mpirun", "--host", spread, *command], seconds)
        return self.nodes[self.names[0]].start(launch, log, env={**os.environ, **ssh, **(env or {})})

    def down(self):
        for node in self.nodes.values():
            node.power_off()
