//! The scripts in `slurm/`: generic ones that take the macrok arguments from the sbatch command line.

use std::time::Duration;

use super::{JobRequest, Script, ScriptKind};
use crate::job::TimeLimit;

const SWEEP: &str = "\
Fits every metric with every k, each as one job of an array, and compares them on test data in one table. Both files
have marginals and labels; further options are passed to `macrok fit`:

  bash slurm/sweep.sbatch train.h5 test.h5 --max-iters 20

This submits the array and a job that waits for it and writes sweep/table.tsv; classifiers, metrics and logs are in
sweep/ too. (Within a job, use sbatch instead of bash.) MACROK_METRICS, MACROK_KS and MACROK_OUT, or the lines below, set
the metrics, the values of k and the folder. Each job stops, waits and resumes like that of fit.sbatch.";

/// Returns the arguments of the example of a command.
fn example_arguments(kind: ScriptKind) -> &'static str {
    match kind {
        ScriptKind::Train => "train.h5 --estimator plt --out tree.model",
        ScriptKind::Marginals => "tree.model test.h5 --keep 200 --out test-marginals.h5",
        ScriptKind::Fit => "--marginals train.h5 --labels train.h5 -k 5 --metric macro-f1 --out clf.h5",
        ScriptKind::Evaluate => "clf.h5 --marginals test.h5 --labels test.h5 --json metrics.json",
        ScriptKind::Predict => "clf.h5 --marginals test.h5 --out pred.h5",
        ScriptKind::Run => "job.toml",
        ScriptKind::Sweep => "train.h5 test.h5",
    }
}

/// Returns the comment at the top of a script.
fn header(kind: ScriptKind) -> String {
    let (name, example) = (kind.name(), example_arguments(kind));
    let stopping = match kind {
        ScriptKind::Sweep => return SWEEP.into(),
        ScriptKind::Train => {
            "Before its time is up, and when it is preempted or loses a node, the job is requeued and resumes from its
checkpoint. Submitting the same line again resumes too. With plt and linear every rank holds all rows: request few ranks
of many threads.\n"
        }
        ScriptKind::Fit => {
            "Before its time is up, and when it is preempted or loses a node, the job is requeued and resumes from its
checkpoint. Submitting the same line again resumes too.\n"
        }
        ScriptKind::Run => {
            "Before its time is up, and when it is preempted or loses a node, the job is requeued and resumes; finished
steps are not repeated.\n"
        }
        ScriptKind::Marginals | ScriptKind::Evaluate | ScriptKind::Predict => "",
    };
    format!(
        "Runs `macrok {name}` on several nodes. Arguments after the name of the script are passed to it:

  sbatch slurm/{name}.sbatch {example}

{stopping}The log is macrok-{name}-JOB.out in the folder where sbatch is typed; relative paths start there too."
    )
}

/// Returns the script `slurm/NAME.sbatch`.
pub fn bundled_script(kind: ScriptKind) -> Script {
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
    Script { header: header(kind), kind, request, program: "macrok".into(), arguments: None }
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
