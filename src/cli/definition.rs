//! The command line as clap knows it: one table for parser, help, completions and man pages.

use std::any::TypeId;

use clap::{Arg, ArgAction, Command, CommandFactory};

use super::CommandLine;
use super::common::GLOBAL_HEADING;

/// The detail of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// The options most runs need, one line each: `-h`.
    Summary,
    /// Everything, with examples: `--help`.
    Full,
    /// Everything, for the man pages and completions.
    Manual,
}

/// The options that the summary leaves out, of all commands.
const ADVANCED: &str = "arity batch calibrate_share checkpoint checkpoint_every clamp dropout epsilon labels_first leaf_size \
    learning_rate log_format loss max_passes module mpi no_checkpoint out_option patience propensity_a \
    propensity_b smoothing stall_timeout threshold tolerance validation zero_based";

/// Returns the command line with help of this detail.
pub(super) fn definition(detail: Detail) -> Command {
    let command = CommandLine::command().disable_help_subcommand(true);
    with_detail(command, detail).mut_subcommands(|command| with_detail(command, detail))
}

fn with_detail(command: Command, detail: Detail) -> Command {
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::HelpShort)
        .help_heading(GLOBAL_HEADING)
        .display_order(100);
    let command = command
        .disable_help_flag(true)
        .arg(help.help("Print help: -h for the most used options, --help for all options and examples"))
        .mut_args(|arg| if is_number(&arg) { arg.allow_hyphen_values(true) } else { arg });
    let is_advanced = |arg: &Arg| ADVANCED.split(' ').any(|id| arg.get_id() == id);
    match detail {
        Detail::Summary => command.mut_args(|arg| if is_advanced(&arg) { arg.hide(true) } else { arg }),
        Detail::Manual => command,
        // The long form of clap separates all options by empty lines.
        Detail::Full => {
            let about = command.get_long_about().or(command.get_about()).cloned().unwrap_or_default();
            let examples = command.get_after_long_help().cloned().unwrap_or_default();
            command.about(about).after_help(examples).mut_args(with_values)
        }
    }
}

/// Returns whether the values of an option are numbers.
pub(super) fn is_number(arg: &Arg) -> bool {
    let kind = arg.get_value_parser().type_id();
    let numbers = [TypeId::of::<f64>(), TypeId::of::<f32>(), TypeId::of::<u64>(), TypeId::of::<u32>()];
    arg.get_action().takes_values()
        && (kind == TypeId::of::<usize>() || numbers.iter().any(|number| kind == *number))
}

/// Adds a line for each possible value with a help text to the help of the option.
fn with_values(arg: Arg) -> Arg {
    let values = arg.get_possible_values();
    let width = values.iter().map(|value| value.get_name().len()).max().unwrap_or(0);
    let lines: Vec<String> = values
        .iter()
        .filter_map(|value| Some(format!("\n- {:<width$}  {}", value.get_name(), value.get_help()?)))
        .collect();
    if lines.is_empty() || !arg.get_action().takes_values() {
        return arg;
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let default = arg.get_default_values().first().map(|value| format!(" [default: {}]", value.display()));
    let help = format!("{help}{}{}", default.unwrap_or_default(), lines.concat());
    arg.help(help).hide_possible_values(true).hide_default_value(true)
}
