//! The program: joins the MPI job, runs the command, and exits with its status.

use std::process::ExitCode;

use macrok::cli;
use macrok::job;
use macrok::world::World;

fn main() -> ExitCode {
    job::exit_with_failure_on_abort();
    let world = match World::start() {
        Ok(world) => world,
        Err(error) => {
            eprintln!("macrok: error: {error}");
            return ExitCode::FAILURE;
        }
    };
    world.end_job_on_panic();
    job::handle_signals(&world);
    match cli::parse(&world) {
        Ok(command) => {
            let outcome = cli::run(&world, command);
            job::ignore_signals_once_stopped(&outcome);
            world.finish(outcome)
        }
        Err(status) => status,
    }
}
