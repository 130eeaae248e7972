"""Workstations: mpirun over ssh, also when the network fails."""

import time

from files import content
from process import PATIENCE, run, until

# Without these, Open MPI does not check its daemons on other hosts, and mpirun waits for ever.
KEEPALIVE = {
    "OMPI_MCA_oob_tcp_keepalive_time": "3",
    "OMPI_MCA_oob_tcp_keepalive_intvl": "1",
    "OMPI_MCA_oob_tcp_keepalive_probes": "3",
}


def test_mpirun_over_ssh_gives_the_same_bits(hosts, binary, alone, fits, tmp_path):
    log = tmp_path / "log"
    fit = hosts.mpirun(binary, "fit", *fits.long, "--out", tmp_path / "clf.h5", log=log, seconds=60)
    assert fit.wait(PATIENCE * 60 + 10) == 0, log.read_text()
    assert "4 ranks" in log.read_text() and "on 2 nodes" in log.read_text()
    assert content(tmp_path / "clf.h5") == alone("fit", *fits.long)


def test_a_fit_ends_and_can_be_resumed_when_the_network_fails(hosts, binary, alone, fits, tmp_path):
    log, out = tmp_path / "log", tmp_path / "clf.h5"
    env = {**KEEPALIVE, "MACROK_TEST_FAULT": "sleep=300@pass:0"}
    fit = hosts.mpirun(binary, "fit", *fits.long, "--out", out, log=log, seconds=50, env=env)
    until(lambda: "\n        3  " in log.read_text(), lambda: log.read_text())
    hosts.nodes["w2"].unplug()
    start = time.monotonic()
    status = fit.wait(PATIENCE * 50 + 10)
    took = time.monotonic() - start
    assert status not in (0, 124, 137), f"status {status} after {took:.0f} s\n{log.read_text()}"
    assert took < PATIENCE * 20 and "ORTE has lost communication" in log.read_text(), f"after {took:.0f} s\n{log.read_text()}"
    # The ranks on the disconnected host must notice themselves.
    left = ["pgrep", "-x", "macrok"]
    until(lambda: run(*left, status=None).returncode == 1, "all ranks to end", 20)
    hosts.nodes["w2"].plug()
    run("mpirun", "-n", "2", binary, "fit", *fits.long, "--out", out, "--resume")
    assert content(out) == alone("fit", *fits.long)
