//! The command line: what was typed, then what was checked and is ready to use.

mod baseline;
mod calibration_report;
mod common;
mod doctor;
mod evaluate;
mod existing_output;
mod fit;
mod import;
mod inspect;
mod marginals;
mod predict;
mod resume_hint;
mod run;
mod slurm;
mod split;
mod synth;
mod train;

use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::error::{ExitStatus, Result, usage};
use crate::fault;
use crate::machine::{check_launcher_ranks, check_same_program, missing_srun_warning, start_threads};
use crate::world::World;

/// Finds the best macro-at-k classifier: exactly k labels for every instance, and every label
/// counts the same, however rare.
///
/// Each command works alone and under mpirun or srun, with the same bits out for any number of
/// ranks and threads.
#[derive(Parser)]
#[command(name = "macrok", version, about, long_about, max_term_width = 100)]
#[command(after_help = "\
Example, from nothing to a table of metrics:
  macrok synth data.h5
  macrok fit --marginals data.h5 --labels data.h5 -k 3 --metric macro-f1 --out clf.h5
  macrok evaluate clf.h5 --marginals data.h5 --labels data.h5
Run `macrok COMMAND --help` for one command, `macrok fit --metric help` for the metrics.

Exit status: 0 success, 1 failure, 2 bad input or usage, 75 stopped early and can be resumed.")]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
    /// Say more on standard error: -v what is done, -vv details
    #[arg(short, long, global = true, help_heading = "Options of every command", action = clap::ArgAction::Count)]
    verbose: u8,
    /// How log lines look
    #[arg(
        long,
        global = true,
        help_heading = "Options of every command",
        value_enum,
        default_value = "text"
    )]
    log_format: common::LogFormat,
    /// Threads of each rank [default: SLURM_CPUS_PER_TASK, OMP_NUM_THREADS, or this rank's share of the processors]
    #[arg(long, global = true, help_heading = "Options of every command", value_name = "N")]
    threads: Option<usize>,
    /// End the job when a rank has waited so many seconds for others and none has made progress; 0 waits for ever
    #[arg(
        long,
        global = true,
        help_heading = "Options of every command",
        value_name = "SECONDS",
        default_value_t = 600.0
    )]
    stall_timeout: f64,
    /// Write the facts as JSON too; `-` is standard output
    #[arg(long, global = true, help_heading = "Options of every command", value_name = "FILE")]
    json: Option<String>,
    /// Replace output files that exist
    #[arg(long, global = true, help_heading = "Options of every command")]
    force: bool,
}

#[derive(Subcommand)]
enum Command {
    Synth(synth::SynthArgs),
    Import(import::ImportArgs),
    Inspect(inspect::InspectArgs),
    Split(split::SplitArgs),
    Train(Box<train::TrainArgs>),
    Marginals(marginals::MarginalsArgs),
    Fit(Box<fit::FitArgs>),
    Baseline(baseline::BaselineArgs),
    Predict(predict::PredictArgs),
    Evaluate(evaluate::EvaluateArgs),
    Run(run::RunArgs),
    Slurm(slurm::SlurmArgs),
    Doctor(doctor::DoctorArgs),
}

/// A command ready to run.
pub struct ParsedCommand(CommandLine);

/// Reads the command line. Help and usage errors are printed by rank 0 only.
pub fn parse(world: &World) -> std::result::Result<ParsedCommand, ExitCode> {
    CommandLine::try_parse().map(ParsedCommand).map_err(|error| {
        if world.is_root() {
            let _ = error.print();
        }
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
            _ => ExitCode::from(2),
        }
    })
}

/// Runs the command. Collective; an error that all ranks know is `Error::Agreed`.
pub fn run(world: &World, ParsedCommand(args): ParsedCommand) -> Result<()> {
    common::init_logging(world, args.verbose, args.log_format);
    let examined = matches!(args.command, Command::Doctor(_));
    if !examined {
        check_launcher_ranks(world, |name| std::env::var(name).ok())?;
    }
    check_same_program(world)?;
    let stall = Duration::try_from_secs_f64(args.stall_timeout);
    world.end_job_on_stall(world.agree(stall.or_else(|_| {
        usage(format!("--stall-timeout is {}, but must be seconds, or 0 for never", args.stall_timeout))
    }))?);
    fault::inject(world.rank(), "start")?;
    let threads = start_threads(world, args.threads)?;
    // What goes on by itself needs no option for it.
    let (resume, resuming) = match &args.command {
        Command::Fit(fit) => (fit.resumes(), Some("--resume")),
        Command::Train(train) => (train.resumes(), Some("--resume")),
        Command::Run(_) => (true, None),
        _ => (false, None),
    };
    let context = common::Context::new(world, args.json.as_deref(), args.force, resume, threads.count)?;
    // The doctor has a list of its own.
    if !examined {
        threads.warnings.iter().for_each(|remark| context.console.warn(remark));
        let forgotten = missing_srun_warning(world, |name| std::env::var(name).ok());
        forgotten.iter().for_each(|remark| context.console.warn(remark));
    }
    let outcome = match args.command {
        Command::Synth(command) => synth::run(&context, &command),
        Command::Import(command) => import::run(&context, &command),
        Command::Inspect(command) => inspect::run(&context, &command),
        Command::Split(command) => split::run(&context, &command),
        Command::Train(command) => train::run(&context, &command),
        Command::Marginals(command) => marginals::run(&context, &command),
        Command::Fit(command) => fit::run(&context, &command),
        Command::Baseline(command) => baseline::run(&context, &command),
        Command::Predict(command) => predict::run(&context, &command),
        Command::Evaluate(command) => evaluate::run(&context, &command),
        Command::Run(command) => run::run(&context, &command),
        Command::Slurm(command) => slurm::run(&context, &command),
        Command::Doctor(command) => doctor::run(&context, &command, &threads),
    };
    outcome.map_err(|error| match error.status() {
        ExitStatus::Stopped => resume_hint::add_resume_command(world, error, resuming),
        _ => error,
    })
}
