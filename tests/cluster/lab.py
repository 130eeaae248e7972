"""Starts the test cluster, runs a command in it and shuts it down, to try things by hand.

    sh tests/cluster/run.sh python3 tests/cluster/lab.py bash
"""

import os
import subprocess
import sys
from pathlib import Path

from slurm import Slurm

slurm = Slurm(Path("/run/cluster/slurm"), 3)
try:
    sys.exit(subprocess.run(sys.argv[1:], env={**os.environ, **slurm.environment}, check=False).returncode)
finally:
    slurm.down()
