//! The scripts in `slurm/`: generic ones that take the macrok arguments from the sbatch command line.

use std::time::Duration;

use super::{JobRequest, Script, ScriptKind};
use crate::job::TimeLimit;

const TRAIN: &str = "\
Runs `macrok train` on several nodes. What follows the name of the script goes to it:

  sbatch slurm/train.sbatch train.h5 --estimator plt --out tree.model

Before its time is up, or when another job takes its nodes, it writes a checkpoint and waits in the queue again; then
it goes on from there. So it does when a node is lost. The same line submitted again goes on too. With plt and linear
every rank holds all rows: ask for few ranks of many threads. The log is macrok-train-JOB.out, in the folder where sbatch
was typed; files are looked for there.";

const MARGINALS: &str = "\
Runs `macrok marginals` on several nodes. What follows the name of the script goes to it:

  sbatch slurm/marginals.sbatch tree.model test.h5 --keep 200 --out test-marginals.h5

The log is macrok-marginals-JOB.out, in the folder where sbatch was typed; files are looked for there.";

const FIT: &str = "\
Runs `macrok fit` on several nodes. What follows the name of the script goes to it:

  sbatch slurm/fit.sbatch --marginals train.h5 --labels train.h5 -k 5 --metric macro-f1 --out clf.h5

Before its time is up, or when another job takes its nodes, it writes a checkpoint and waits in the queue again; then
it goes on from there. So it does when a node is lost, from the last iteration. The same line submitted again goes on
too. The log is macrok-fit-JOB.out, in the folder where sbatch was typed; files are looked for there.";

const EVALUATE: &str = "\
Runs `macrok evaluate` on several nodes. What follows the name of the script goes to it:

  sbatch slurm/evaluate.sbatch clf.h5 --marginals test.h5 --labels test.h5 --json metrics.json

The log, with the table of metrics, is macrok-evaluate-JOB.out, in the folder where sbatch was typed; files are looked
for there.";

const PREDICT: &str = "\
Runs `macrok predict` on several nodes. What follows the name of the script goes to it:

  sbatch slurm/predict.sbatch clf.h5 --marginals test.h5 --out pred.h5

The log is macrok-predict-JOB.out, in the folder where sbatch was typed; files are looked for there.";

const RUN: &str = "\
Runs a whole experiment, `macrok run`, on several nodes. What follows the name of the script goes to it:

  sbatch slurm/run.sbatch job.toml

Before its time is up, or when another job takes its nodes, it stops and waits in the queue again; then it goes on from
there, and does nothing a second time. The log is macrok-run-JOB.out, in the folder where sbatch was typed; files are
looked for there.";

const SWEEP: &str = "\
Fits every metric with every k, each as one job of an array, and compares them on test data in one table. Both files
have marginals and labels; further options go to `macrok fit`:

  bash slurm/sweep.sbatch train.h5 test.h5 --max-iters 20

That submits the array and a job that waits for it and writes sweep/table.tsv; classifiers, metrics and logs are in
sweep/ too. (sbatch in place of bash does the same, from within a job.) What is fitted, and where to, is set by
MACROK_METRICS, MACROK_KS and MACROK_OUT, or below. Each job stops, waits and goes on as that of fit.sbatch.";

/// Returns the script `slurm/NAME.sbatch`.
pub fn bundled_script(kind: ScriptKind) -> Script {
    let header = match kind {
        ScriptKind::Train => TRAIN,
        ScriptKind::Marginals => MARGINALS,
        ScriptKind::Fit => FIT,
        ScriptKind::Evaluate => EVALUATE,
        ScriptKind::Predict => PREDICT,
        ScriptKind::Run => RUN,
        ScriptKind::Sweep => SWEEP,
    };
    let request = JobRequest {
        nodes: 2,
        tasks_per_node: 2,
        cpus_per_task: 4,
        time: TimeLimit(Duration::from_secs(2 * 3600)),
        memory: None,
        partition: None,
        account: None,
        job_name: format!("macrok-{}", kind.name()),
        sbatch_options: Vec::new(),
        modules: Vec::new(),
        mpi: "pmix".into(),
        restarts: 20,
    };
    Script { header: header.into(), kind, request, program: "macrok".into(), arguments: None }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Writes the scripts if UPDATE_SLURM is set.
    #[test]
    fn scripts_in_the_folder_are_up_to_date() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("slurm");
        for kind in ScriptKind::COMMANDS.into_iter().chain([ScriptKind::Sweep]) {
            let path = folder.join(format!("{}.sbatch", kind.name()));
            let made = bundled_script(kind).to_string();
            if std::env::var_os("UPDATE_SLURM").is_some() {
                std::fs::write(&path, &made).unwrap();
            }
            let there = std::fs::read_to_string(&path).unwrap();
            assert!(
                there == made,
                "{} is not what src/slurm makes; UPDATE_SLURM=1 writes it",
                path.display()
            );
        }
    }
}
