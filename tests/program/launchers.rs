//! Processes started by the launcher of another MPI, and ranks of different programs, are refused.
#![cfg(feature = "mpi")]

use std::path::Path;
use std::process::Command;

use crate::common::{limited, macrok_with, missing, open_mpi_variables, output, program, ranks_with, run};

/// Launchers of two MPIs, one of which the program is built with.
const LAUNCHERS: [&str; 2] = ["mpirun.openmpi", "mpirun.mpich"];

fn is_there(program: &str) -> bool {
    output(Command::new(program).arg("--version")).is_ok_and(|output| output.status.success())
}

#[test]
fn ranks_under_the_launcher_of_another_mpi_are_refused_once() {
    if !LAUNCHERS.iter().all(|launcher| is_there(launcher)) {
        missing("mpirun.openmpi and mpirun.mpich");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let outcomes = LAUNCHERS.map(|launcher| {
        let mut command = limited(60);
        command.arg(launcher).args(["-n", "3"]).arg(program()).args(["synth", "data.h5", "--force"]);
        command.current_dir(folder.path()).envs(open_mpi_variables());
        run(command)
    });
    let refused = outcomes.iter().filter(|ran| {
        let [error] = ran.errors()[..] else { return false };
        error.contains("started 3 processes, but this one is in a job of 1") && ran.status == Some(2)
    });
    assert_eq!(refused.count(), 1, "{}\n{}", outcomes[0], outcomes[1]);
    assert!(outcomes.iter().any(|ran| ran.status == Some(0)), "{}\n{}", outcomes[0], outcomes[1]);
}

#[test]
fn srun_tasks_without_mpi_are_refused() {
    let step = [("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "0")];
    let ran = macrok_with(Path::new("."), &["synth", "never.h5"], &step);
    assert_eq!(ran.status, Some(2), "{ran}");
    assert!(ran.stderr.contains("srun started 4 processes") && ran.stderr.contains("--mpi=pmix"), "{ran}");
    let other = [("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "2")];
    let ran = macrok_with(Path::new("."), &["synth", "never.h5"], &other);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(2), ""), "{ran}");
    assert!(!Path::new("never.h5").exists());
}

#[test]
fn a_batch_script_without_srun_gets_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let job = [("SLURM_JOB_ID", "7"), ("SLURM_NTASKS", "4")];
    let ran = macrok_with(folder.path(), &["synth", "data.h5"], &job).ok();
    assert!(ran.stderr.contains("has 4 tasks, but macrok was started as one process"), "{ran}");
}

#[test]
fn ranks_of_different_programs_are_refused_before_any_work() {
    // Debug builds take the name of their program from MACROK_TEST_PROGRAM, here set for rank 1 alone.
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("rank.sh");
    let text = "#!/bin/sh\n\
        if [ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 1 ]; then export MACROK_TEST_PROGRAM='macrok 0.0.9 (build 7)'; fi\n\
        exec \"$MACROK\" \"$@\"\n";
    std::fs::write(&script, text).unwrap();
    let program = program().to_str().unwrap();
    let Some(launcher) = crate::common::launcher() else { return };
    let mut command = limited(60);
    command.arg(&launcher.path).args(["-n", "3", "sh"]).arg(&script).args(["synth", "data.h5"]);
    command.current_dir(folder.path()).envs(open_mpi_variables()).env("MACROK", program);
    let ran = run(command);
    assert_eq!(ran.status, Some(2), "{ran}");
    let [error] = ran.errors()[..] else { panic!("{ran}") };
    assert!(error.contains("rank 1 on") && error.contains("runs macrok 0.0.9 (build 7)"), "{ran}");
    assert!(!folder.path().join("data.h5").exists());
    // Ranks of the same program run.
    if let Some(ran) = ranks_with(3, folder.path(), &["synth", "data.h5"], &[], 60) {
        ran.ok();
    }
}
