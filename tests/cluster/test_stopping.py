"""Jobs that are stopped by Slurm, by a user or by the loss of a node resume, to the same bits."""

import re

import pytest

from conftest import SCRIPTS, results
from files import content
from process import until

# The number of an iteration in the log.
ITERATION = re.compile(r"^ +(\d+)  +0\.\d+  +[+-]", re.MULTILINE)


@pytest.fixture
def slow_fit(submit, fits, slow_until_restarted):
    """Starts a fit that is slow until it is restarted, and waits for an iteration."""

    def start(*options, out="clf.h5", env=None, begun=3):
        env = {**slow_until_restarted, **(env or {})}
        job = submit(SCRIPTS / "fit.sbatch", *fits.long, "--out", out, options=options, env=env)
        job.wait_for_log(rf"\n +{begun}  ")
        return job

    return start


def assert_resumed(job, found, expected):
    """Checks that the result is the same, and that no iteration was repeated except those that were interrupted."""
    numbers = [int(number) for number in ITERATION.findall(job.log())]
    assert numbers[0] == 1 and numbers[-1] == 40, job.log()
    assert len(numbers) <= 40 + job.restarts(), job.log()
    assert found == expected


def running(slurm, name):
    """Returns the processes of that name on all nodes."""
    done = slurm.run("pgrep", "-x", name, status=None)
    return done.stdout.split()


def test_a_requeued_job_resumes(slurm, slow_fit, alone, fits, tmp_path):
    job = slow_fit()
    slurm.run("scontrol", "requeue", job.number)
    job.wait("COMPLETED", 40)
    assert job.restarts() == 1
    assert_resumed(job, content(tmp_path / "clf.h5"), alone("fit", *fits.long))


def test_a_preempted_job_resumes(slurm, slow_fit, alone, fits, tmp_path):
    job = slow_fit()
    nodes = job.facts()[0]["NodeList"]
    urgent = ["sbatch", "--parsable", "--partition=urgent", f"--nodelist={nodes}", "--ntasks-per-node=2", "--mem=100"]
    first = slurm.job([*urgent, "--wrap=true"], tmp_path, {}).wait("COMPLETED")
    assert first.facts()[0]["NodeList"] == nodes
    job.wait("COMPLETED", 40)
    assert job.restarts() == 1
    assert_resumed(job, content(tmp_path / "clf.h5"), alone("fit", *fits.long))


def test_a_job_resumes_after_the_signal_before_its_time_limit(slurm, slow_fit, alone, fits, tmp_path):
    # Slurm counts in minutes, looks at its clock every half minute, and may send the signal a minute early. The job gets its
    # short limit while it runs, so that at least a minute is left after the signal. The fit alone would take longer.
    job = slow_fit("--time=60", "--signal=USR1@100", env={"MACROK_TEST_FAULT": "sleep=5000@pass:0"}, begun=1)
    minutes = job.minutes() + 2
    slurm.run("scontrol", "update", f"JobId={job.number}", f"TimeLimit={minutes}")
    job.wait_for_log(r"restart 1 of at most 20", 60)
    assert "SIGUSR1" in job.log()
    job.wait("COMPLETED", 40)
    assert job.restarts() == 1
    assert_resumed(job, content(tmp_path / "clf.h5"), alone("fit", *fits.long))


def test_restarts_are_counted_and_bounded(slurm, slow_fit):
    job = slow_fit(env={"MACROK_RESTARTS": "0"})
    slurm.run("scancel", "--signal=USR1", job.number)
    job.wait("FAILED")
    assert job.exit_status() == 75 and job.restarts() == 0
    assert "was restarted 0 times, the most that MACROK_RESTARTS allows" in job.log()


def test_a_cancelled_job_leaves_only_a_checkpoint(slurm, slow_fit, submit, alone, fits, tmp_path):
    job = slow_fit()
    slurm.run("scancel", job.number)
    job.wait("CANCELLED")
    until(lambda: not running(slurm, "macrok") and not running(slurm, "slurmstepd"), "the ranks to end", 15)
    left = {path.name for path in tmp_path.iterdir()} - {"macrok", job.log_file.name}
    assert left and all(name.startswith("clf.h5.checkpoint") for name in left), left
    assert job.states() == {"CANCELLED"} and job.restarts() == 0
    # Submitting it again resumes.
    again = submit(SCRIPTS / "fit.sbatch", *fits.long, "--out", "clf.h5").wait("COMPLETED")
    assert int(ITERATION.findall(again.log())[0]) > 3, again.log()
    assert content(tmp_path / "clf.h5") == alone("fit", *fits.long)


def test_a_run_of_a_job_file_resumes(slurm, submit, experiment, slow_until_restarted, tmp_path):
    job = submit(SCRIPTS / "run.sbatch", experiment.job, "--out", "out", env=slow_until_restarted)
    # During a fit, after others are done.
    until(lambda: len(list((tmp_path / "out").glob("**/*.h5"))) >= 2, job.log, 40)
    slurm.run("scancel", "--signal=USR1", job.number)
    job.wait("COMPLETED", 60)
    assert job.restarts() == 1 and "restart 1 of at most 20" in job.log()
    assert results(tmp_path / "out") == experiment.results


def test_tasks_of_an_array_requeue_themselves(slurm, submit, data, slow_until_restarted, tmp_path):
    variables = {**slow_until_restarted, "MACROK_KS": "1 2", "MACROK_METRICS": "macro-precision"}
    options = "--init random --step classic --min-gain 0 --tolerance 0 --max-iters 10"
    (tmp_path / "sweep").mkdir()
    arguments = ["member", data.train, data.test, *options.split()]
    array = submit(SCRIPTS / "sweep.sbatch", *arguments, options=["--array=0-1"], env=variables)
    logs = [tmp_path / f"macrok-sweep-{facts['JobId']}.out" for facts in array.facts()]
    until(lambda: all(log.exists() and "\n        3  " in log.read_text() for log in logs), array.facts)
    slurm.run("scancel", "--signal=USR1", array.number)
    array.wait("COMPLETED", 40)
    assert [facts["Restarts"] for facts in array.facts()] == ["1", "1"]


def test_jobs_that_lose_a_node_resume(slurm, slow_fit, alone, fits, tmp_path):
    # The first node of a job has its batch script and rank 0, the last only ranks.
    jobs = {out: slow_fit(out=out) for out in ["first.h5", "last.h5"]}
    listed = [slurm.run("scontrol", "show", "hostnames", job.facts()[0]["NodeList"]) for job in jobs.values()]
    first, last = (done.stdout.split() for done in listed)
    assert not set(first) & set(last)
    lost = [slurm.nodes[first[0]], slurm.nodes[last[-1]]]
    for node in lost:
        node.power_off()
    for out, job in jobs.items():
        job.wait("COMPLETED", 90)
        assert job.restarts() == 1
        assert_resumed(job, content(tmp_path / out), alone("fit", *fits.long))
    for node in lost:
        slurm.boot(node.name, node.address)
    until(lambda: len(slurm.idle()) == 4, slurm.state, 30)
