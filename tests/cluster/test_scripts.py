"""Every script of slurm/, and one that `macrok slurm` writes, gives the bits of one process on two nodes with two ranks
each."""

import json

from conftest import SCRIPTS, results
from files import content
from process import run


def test_fit(submit, alone, fits, tmp_path):
    job = submit(SCRIPTS / "fit.sbatch", *fits.short, "--out", "clf.h5").wait("COMPLETED")
    assert "4 ranks x 1 thread" in job.log()
    assert content(tmp_path / "clf.h5") == alone("fit", *fits.short)
    # Submitting it again finds nothing left to do.
    again = submit(SCRIPTS / "fit.sbatch", *fits.short, "--out", "clf.h5").wait("COMPLETED")
    assert "iteration" not in again.log()


def test_evaluate(submit, binary, data, fits, tmp_path):
    run(binary, "fit", *fits.long, "--out", tmp_path / "clf.h5")
    arguments = [tmp_path / "clf.h5", "--marginals", data.test, "--labels", data.test]
    run(binary, "evaluate", *arguments, "--json", tmp_path / "alone.json")
    job = submit(SCRIPTS / "evaluate.sbatch", *arguments, "--json", "metrics.json").wait("COMPLETED")
    assert "macro-f1" in job.log()
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics == json.loads((tmp_path / "alone.json").read_text())


def test_predict(submit, alone, binary, data, fits, tmp_path):
    run(binary, "fit", *fits.long, "--out", tmp_path / "clf.h5")
    arguments = [tmp_path / "clf.h5", "--marginals", data.test, "--seed", "5"]
    submit(SCRIPTS / "predict.sbatch", *arguments, "--out", "pred.h5").wait("COMPLETED")
    assert content(tmp_path / "pred.h5") == alone("predict", *arguments)


def test_train_and_marginals(submit, alone, binary, data, tmp_path):
    train = [data.train, "--estimator", "plt"]
    run(binary, "train", *train, "--out", tmp_path / "alone.model")
    submit(SCRIPTS / "train.sbatch", *train, "--out", "tree.model").wait("COMPLETED")
    submit(SCRIPTS / "marginals.sbatch", "tree.model", data.test, "--out", "marginals.h5").wait("COMPLETED")
    assert content(tmp_path / "marginals.h5") == alone("marginals", tmp_path / "alone.model", data.test)


def test_run(submit, experiment, tmp_path):
    job = submit(SCRIPTS / "run.sbatch", experiment.job, "--out", "out").wait("COMPLETED", 60)
    assert "frank-wolfe  expected macro-f1" in job.log()
    assert results(tmp_path / "out") == experiment.results


def test_ranks_of_mpich(submit, mpich_binary, alone, experiment, fits, tmp_path):
    # Ranks that share cores must yield them while they wait.
    preload = {"LD_PRELOAD": str(mpich_binary.parents[1] / "yield.so")}
    mpich = {"MACROK": str(mpich_binary), "MACROK_MPI": "pmi2", **preload}
    job = submit(SCRIPTS / "fit.sbatch", *fits.short, "--out", "clf.h5", env=mpich).wait("COMPLETED")
    assert "4 ranks x 1 thread" in job.log()
    assert content(tmp_path / "clf.h5") == alone("fit", *fits.short)
    # Waiting ranks of MPICH keep a core busy, and the machine may have only two.
    few = ["--ntasks-per-node=1"]
    submit(SCRIPTS / "run.sbatch", experiment.job, "--out", "out", options=few, env=mpich).wait("COMPLETED", 60)
    assert results(tmp_path / "out") == experiment.results


def test_a_script_that_macrok_writes_runs_unchanged(slurm, alone, binary, fits, tmp_path):
    options = ["--nodes", "2", "--tasks-per-node", "2", "--cpus-per-task", "1", "--time", "10", "--partition", "main"]
    metric = "0.3*instance-precision + 0.7*macro-f1"
    arguments = [*fits.short[:-1], metric]
    command = ["fit", *arguments, "--out", "clf 1.h5"]
    run(binary, "slurm", *options, "--out", "job.sbatch", "--", *command, cwd=tmp_path)
    # The script contains the path of the program, so no variable has to.
    job = slurm.job(["sbatch", "--parsable", "job.sbatch"], tmp_path, {"MACROK": ""}).wait("COMPLETED")
    assert "4 ranks x 1 thread" in job.log()
    assert job.facts()[0]["MinMemoryNode"] == "1G"
    assert content(tmp_path / "clf 1.h5") == alone("fit", *arguments)


def test_a_sweep_is_an_array_and_a_table_that_waits_for_it(slurm, alone, data, tmp_path):
    variables = {"MACROK_METRICS": "macro-f1;0.5*macro-recall + 0.5*coverage", "MACROK_KS": "1 3"}
    variables |= {"MACROK_SBATCH": "--cpus-per-task=1", "MACROK_OUT": "out"}
    command = ["bash", SCRIPTS / "sweep.sbatch", data.train, data.test, "--max-iters", "5"]
    said = slurm.run(*command, cwd=tmp_path, env=variables).stdout
    words = said.split()
    array, table = slurm.known(words[1]), slurm.known(words[words.index("job", 2) + 1])
    assert table.facts()[0]["Dependency"].startswith(f"afterany:{array.number}_"), table.facts()
    table.wait("COMPLETED", 60)
    assert array.states() == {"COMPLETED"} and len(array.facts()) == 4
    made = sorted(path.name for path in (tmp_path / "out").glob("*.h5"))
    formula = "0_5_macro-recall___0_5_coverage"
    assert made == ["0-macro-f1-k1.h5", "1-macro-f1-k3.h5", f"2-{formula}-k1.h5", f"3-{formula}-k3.h5"]
    train = ["--marginals", data.train, "--labels", data.train, "--max-iters", "5"]
    for file, metric, k in zip(made, ["macro-f1"] * 2 + ["0.5*macro-recall + 0.5*coverage"] * 2, "1313", strict=True):
        assert content(tmp_path / "out" / file) == alone("fit", *train, "-k", k, "--metric", metric)
    rows = [line.split("\t") for line in (tmp_path / "out" / "table.tsv").read_text().splitlines()]
    assert rows[0] == ["fitted for", "k", "instance-precision", "macro-precision", "macro-recall", "macro-f1", "coverage"]
    metrics = json.loads((tmp_path / "out" / "1-macro-f1-k3.json").read_text())["metrics"]
    assert [row[:2] for row in rows[1:]] == [[m, k] for m in variables["MACROK_METRICS"].split(";") for k in "13"]
    assert abs(float(rows[2][5]) - metrics["macro-f1"]["mean"]) < 1e-5
