//! The command line: arguments as they are typed (`*Args`), then requests that have been checked.

mod baseline;
mod calibration_report;
mod common;
mod definition;
mod doctor;
mod evaluate;
mod existing_output;
mod fit;
mod import;
mod inspect;
mod manual;
mod marginals;
mod predict;
mod resume_hint;
mod run;
mod slurm;
mod split;
mod stop_args;
mod synth;
mod train;
mod usage_error;
mod values;

use std::error::Error as _;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::error::{ExitStatus, Result};
use crate::fault;
use crate::machine::{check_launcher_ranks, check_same_program, missing_srun_warning, start_threads};
use crate::measure::catalogue_help;
use crate::world::World;

use definition::{Detail, definition};

/// Find the best macro-at-k classifier: exactly k labels per instance, all labels equally important
///
/// Every command runs alone or under mpirun or srun. Results are bit-identical for any number of ranks and threads.
#[derive(Parser)]
#[command(name = "macrok", version, max_term_width = 100)]
#[command(after_long_help = "\
Example, from nothing to a table of metrics:
  macrok synth data.h5
  macrok fit --marginals data.h5 --labels data.h5 -k 3 --metric macro-f1 --out clf.h5
  macrok evaluate clf.h5 --marginals data.h5 --labels data.h5
`macrok COMMAND --help` explains one command, `macrok fit --metric help` lists the metrics.

Exit status: 0 success, 1 failure, 2 bad input or usage, 75 stopped early and can be resumed.")]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: common::GlobalArgs,
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
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// A command ready to run.
pub struct ParsedCommand(CommandLine);

/// Reads the command line. Rank 0 prints help and usage errors.
pub fn parse(world: &World) -> std::result::Result<ParsedCommand, ExitCode> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|word| word == "help") {
        arguments.remove(1);
        arguments.push("--help".into());
    }
    let detail = match arguments.iter().take_while(|&word| word != "--").any(|word| word == "--help") {
        true => Detail::Full,
        false => Detail::Summary,
    };
    parse_words(detail, &arguments).map(ParsedCommand).map_err(|error| {
        let lists_metrics = error.source().is_some_and(|source| source.is::<fit::MetricList>());
        let succeeds =
            lists_metrics || matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        if world.is_root() {
            if lists_metrics {
                crate::report::print_stdout(catalogue_help());
            } else if succeeds || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                let _ = error.print();
            } else {
                let commands = command_names();
                let command =
                    arguments.iter().find_map(|word| commands.iter().find(|name| *word == name.as_str()));
                let command = command.map_or("macrok".into(), |name| format!("macrok {name}"));
                eprintln!("macrok: error: {}", usage_error::message_with_pointer(&error, &command));
            }
        }
        if succeeds { ExitCode::SUCCESS } else { ExitCode::from(ExitStatus::BadInput.code() as u8) }
    })
}

/// Parses a command line whose first word is the program.
fn parse_words(
    detail: Detail,
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> std::result::Result<CommandLine, clap::Error> {
    let matches = definition(detail).try_get_matches_from(words)?;
    CommandLine::from_arg_matches(&matches)
}

fn command_names() -> Vec<String> {
    CommandLine::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// Runs the command. Collective; an error that all ranks know is `Error::Agreed`.
pub fn run(world: &World, ParsedCommand(args): ParsedCommand) -> Result<()> {
    let CommandLine { command, global } = args;
    common::init_logging(world, global.verbose, global.log_format);
    // The doctor reports these problems in its own list.
    let is_doctor = matches!(command, Command::Doctor(_));
    if !is_doctor {
        check_launcher_ranks(world, |name| std::env::var(name).ok())?;
    }
    check_same_program(world)?;
    world.end_job_on_stall(Duration::from_secs_f64(global.stall_timeout));
    fault::inject(world.rank(), "start")?;
    let threads = start_threads(world, global.threads)?;
    // `run` resumes without an option.
    let (resume, resume_option) = match &command {
        Command::Fit(fit) => (fit.stop.resume, Some("--resume")),
        Command::Train(train) => (train.stop.resume, Some("--resume")),
        Command::Run(_) => (true, None),
        _ => (false, None),
    };
    let context = common::Context::new(world, &global, resume, threads.count)?;
    if !is_doctor {
        threads.warnings.iter().for_each(|warning| context.console.warn(warning));
        let missing = missing_srun_warning(world, |name| std::env::var(name).ok());
        missing.iter().for_each(|warning| context.console.warn(warning));
    }
    let outcome = match command {
        Command::Synth(args) => synth::run(&context, &args),
        Command::Import(args) => import::run(&context, &args),
        Command::Inspect(args) => inspect::run(&context, &args),
        Command::Split(args) => split::run(&context, &args),
        Command::Train(args) => train::run(&context, &args),
        Command::Marginals(args) => marginals::run(&context, &args),
        Command::Fit(args) => fit::run(&context, &args),
        Command::Baseline(args) => baseline::run(&context, &args),
        Command::Predict(args) => predict::run(&context, &args),
        Command::Evaluate(args) => evaluate::run(&context, &args),
        Command::Run(args) => run::run(&context, &args),
        Command::Slurm(args) => slurm::run(&context, &args),
        Command::Doctor(args) => doctor::run(&context, &args, &threads),
        Command::Completions(args) => manual::print_completions(&context, &args),
        Command::Man(args) => manual::run_man(&context, &args),
    };
    outcome.map_err(|error| match error.status() {
        ExitStatus::Stopped => resume_hint::add_resume_command(world, error, resume_option),
        _ => error,
    })
}
