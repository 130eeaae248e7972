"""Slurm for the tests: munged, slurmctld, and slurmd on every node, with all files in one folder."""

import os
import subprocess
from pathlib import Path

from job import Job
from nodes import Node
from process import run, stop, until

CONTROL = "10.99.0.254"
CPUS = 2

# Slurm can bind ranks only if the machine has exactly the CPUs in its configuration.
BINDS = os.sched_getaffinity(0) == set(range(CPUS))

# A requeued job waits for `cred_expire` seconds. Without %n in TmpFS the PMIx files of two nodes collide.
CONFIGURATION = """
ClusterName=lab
SlurmctldHost=control({control})
SlurmctldPort=26817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdSpoolDir={folder}/spool/%n
SlurmdLogFile={folder}/slurmd-%n.log
TmpFS={folder}/tmp/%n
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/{binding}
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=100000
PriorityType=priority/basic
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
PropagateResourceLimits=NONE
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=3
MinJobAge=600
SlurmctldTimeout=30
SlurmdTimeout=5
InactiveLimit=0
TreeWidth=50
MessageTimeout=4
TCPTimeout=1
"""


class Slurm:
    """The cluster, with its `nodes` by name."""

    def __init__(self, folder, count):
        self.folder, self.nodes, self.daemons = folder, {}, []
        for part in ["munge", "state", "spool", "tmp"]:
            (folder / part).mkdir(parents=True)
        (folder / "munge").chmod(0o755)
        self.configuration = folder / "slurm.conf"
        self.environment = {"SLURM_CONF": str(self.configuration)}
        addresses = {f"n{i}": f"10.99.0.{i}" for i in range(1, count + 1)}
        self._configure(addresses)
        self._start_munge()
        self._start("slurmctld", "-D")
        for name, address in addresses.items():
            self.boot(name, address)
        until(lambda: len(self.idle()) == count, self.state, 20)

    def _configure(self, addresses):
        binding = "affinity" if BINDS else "none"
        lines = [CONFIGURATION.format(control=CONTROL, folder=self.folder, binding=binding)]
        for name, address in addresses.items():
            (self.folder / "spool" / name).mkdir()
            place = f"NodeName={name} NodeHostname={name} NodeAddr={address} Port=27000"
            lines.append(f"{place} CPUs={CPUS} RealMemory=16000 State=UNKNOWN")
        lines.append("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=10 GraceTime=0")
        lines.append("PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=100 PreemptMode=OFF")
        self.configuration.write_text("\n".join(lines) + "\n", encoding="ascii")

    def _start(self, *command):
        with open(self.folder / f"{command[0]}.out", "a", encoding="utf-8") as out:
            daemon = subprocess.Popen(
                [*map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                env={**os.environ, **self.environment},
            )
        self.daemons.append(daemon)

    def _start_munge(self):
        munge = self.folder / "munge"
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o400)
        files = [f"--{what}-file={munge / what}" for what in ["key", "pid", "log", "seed"]]
        self._start("munged", "--foreground", f"--socket={munge / 'socket'}", *files)
        until((munge / "socket").exists, "munged to listen", 10, pause=0.01)

    def boot(self, name, address):
        node = self.nodes[name] = Node(name, self.folder, address)
        log = self.folder / f"slurmd-{name}.out"
        node.start(["slurmd", "-D", "-N", name], log, env={**os.environ, **self.environment})

    def run(self, *command, **options):
        """Runs a command of Slurm."""
        return run(*command, env={**os.environ, **self.environment, **options.pop("env", {})}, **options)

    def job(self, command, folder, env):
        """Submits a job with a command that prints its number, in the folder that gets its log."""
        return self.known(self.run(*command, cwd=folder, env=env).stdout.strip())

    def known(self, number):
        """Returns a job by its number."""
        facts = self.run("scontrol", "show", "job", number).stdout
        log = next(line.strip() for line in facts.splitlines() if line.strip().startswith("StdOut="))
        return Job(self, number, Path(log.removeprefix("StdOut=")))

    def idle(self):
        done = self.run("sinfo", "-h", "-N", "-p", "main", "-t", "idle", "-o", "%N", status=None)
        return done.stdout.split() if done.returncode == 0 else []

    def state(self):
        """Returns the state of the cluster, for the message of a test that timed out."""
        listing = self.run("sinfo", "-N", "-l", status=None).stdout + self.run("squeue", "-a", status=None).stdout
        logs = [self.folder / "slurmctld.log", *sorted(self.folder.glob("slurmd-*.log"))]
        tails = [f"--- {log.name}\n{''.join(log.open().readlines()[-25:])}" for log in logs if log.exists()]
        return "\n".join([listing, *tails])

    def down(self):
        for node in self.nodes.values():
            node.power_off()
        for daemon in reversed(self.daemons):
            stop(daemon)
