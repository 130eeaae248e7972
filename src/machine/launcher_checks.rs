//! Checks that the processes of a launcher are one job and run the same program.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use super::launcher::Launcher;
use crate::error::{Error, Result, usage};
use crate::host::host_name;
use crate::world::{LauncherVariables, World, mpi_library};

/// Refuses processes of one launcher that are not ranks of one job, as under the launcher of another MPI: each would do all
/// the work and write the same files.
pub fn check_launcher_ranks(world: &World, variable: impl Fn(&str) -> Option<String>) -> Result<()> {
    let launcher = Launcher::detect(&variable);
    let (Some(name), Some(started)) = (&launcher.name, launcher.ranks) else { return Ok(()) };
    let found = world.size();
    if started == found {
        return Ok(());
    }
    let number = LauncherVariables::find(&variable).and_then(|found| variable(found.rank));
    // A launcher may end all processes when one leaves: the others wait until the first has reported.
    if number.is_some_and(|number| number.trim() != "0") {
        std::thread::sleep(Duration::from_secs(1));
        return Err(Error::ReportedElsewhere);
    }
    let remedy = if cfg!(not(feature = "mpi")) {
        "use a macrok that is built with MPI".to_owned()
    } else if name == "srun" {
        "start it with srun --mpi=pmix, or --mpi=pmi2 for MPICH (srun --mpi=list shows what there is); for one process, \
         srun -n 1"
            .to_owned()
    } else {
        "start it with the mpirun of the MPI it was built with, or build it again with the mpicc of this one"
            .to_owned()
    };
    usage(format!(
        "{name} started {started} processes, but this one is in a job of {found} ({}): they would all do the same work; \
         {remedy}",
        mpi_library(),
    ))
}

/// Returns a warning if the Slurm job has many tasks but its script started one process without srun.
pub fn missing_srun_warning(world: &World, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let launcher = Launcher::detect(variable);
    let tasks =
        launcher.slurm_tasks.filter(|&tasks| tasks > 1 && launcher.name.is_none() && world.size() == 1)?;
    Some(format!(
        "this Slurm job has {tasks} tasks, but macrok was started as one process; put srun before it"
    ))
}

/// Refuses ranks that run different programs, whose messages may differ. Collective.
pub fn check_same_program(world: &World) -> Result<()> {
    if world.size() == 1 {
        return Ok(());
    }
    let mine = format!("macrok {} (build {})", env!("CARGO_PKG_VERSION"), build_id());
    let programs = world.gather(test_program_name().unwrap_or(mine).as_bytes());
    let hosts = world.gather(host_name(Path::new("/")).as_bytes());
    world.on_root(|| {
        let text = |all: &Option<Vec<Vec<u8>>>, rank: usize| {
            all.as_ref().map(|all| String::from_utf8_lossy(&all[rank]).into_owned()).unwrap_or_default()
        };
        let first = text(&programs, 0);
        let Some(other) = (1..world.size()).find(|&rank| text(&programs, rank) != first) else { return Ok(()) };
        usage(format!(
            "rank 0 on {} runs {first}, but rank {other} on {} runs {}; install the same program on all nodes",
            text(&hosts, 0),
            text(&hosts, other),
            text(&programs, other),
        ))
    })
}

/// Returns the program that a test of a debug build pretends to run.
fn test_program_name() -> Option<String> {
    if cfg!(debug_assertions) { std::env::var("MACROK_TEST_PROGRAM").ok() } else { None }
}

/// Identifies a build by the length of the program's file and by its beginning, where linkers put an identity.
fn build_id() -> String {
    const BEGINNING: u64 = 1 << 16;
    let read = || {
        let file = File::open(std::env::current_exe()?)?;
        let length = file.metadata()?.len();
        let mut beginning = Vec::new();
        file.take(BEGINNING).read_to_end(&mut beginning)?;
        Ok::<_, std::io::Error>((length, crc32fast::hash(&beginning)))
    };
    // A program that was replaced while it runs cannot be read; then only the versions are compared.
    read().map_or("unknown".into(), |(length, hash)| format!("{hash:08x}-{length:x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(variables: &[(&str, &str)]) -> Result<()> {
        check_launcher_ranks(&World::alone(), |name| {
            variables.iter().find(|variable| variable.0 == name).map(|variable| variable.1.to_owned())
        })
    }

    #[test]
    fn refuses_processes_that_are_not_one_job() {
        for variables in [
            [("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "0")],
            [("PMI_RANK", "0"), ("PMI_SIZE", "4")],
            [("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "4")],
        ] {
            let error = alone(&variables).unwrap_err().to_string();
            assert!(error.contains("started 4 processes, but this one is in a job of 1"), "{error}");
        }
    }

    #[test]
    fn only_the_first_process_reports() {
        let other = [("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "3")];
        assert!(matches!(alone(&other), Err(Error::ReportedElsewhere)));
    }

    #[test]
    fn accepts_one_process_of_one_or_of_a_batch_script() {
        alone(&[]).unwrap();
        alone(&[("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "1")]).unwrap();
        alone(&[("SLURM_JOB_ID", "7"), ("SLURM_NTASKS", "4")]).unwrap();
    }

    #[test]
    fn warns_of_a_batch_script_without_srun() {
        let warning = |tasks: &str, step: Option<&str>| {
            missing_srun_warning(&World::alone(), |name| match name {
                "SLURM_JOB_ID" => Some("7".into()),
                "SLURM_NTASKS" => Some(tasks.into()),
                "SLURM_STEP_ID" => step.map(str::to_owned),
                _ => None,
            })
        };
        assert!(warning("4", None).unwrap().contains("4 tasks"));
        assert_eq!(warning("1", None), None);
        assert_eq!(warning("4", Some("0")), None);
    }
}
