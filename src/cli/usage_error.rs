//! Errors of the command line, worded as all errors of the program: the option, the value found, what is allowed.

use std::error::Error as _;
use std::num::{ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::values::MustBe;
use crate::suggest::nearest;

/// Returns the message, followed by the help to read unless a correction is already suggested.
pub(super) fn message_with_pointer(error: &clap::Error, command: &str) -> String {
    let message = message(error);
    if message.ends_with('?') { message } else { format!("{message}; see {command} --help") }
}

/// Returns the message in one line, without a prefix.
pub(super) fn message(error: &clap::Error) -> String {
    let option = || names(error, ContextKind::InvalidArg).join(" and ");
    let value = || strings(error, ContextKind::InvalidValue).join(", ").replace('\n', "\\n");
    match error.kind() {
        ErrorKind::InvalidValue => {
            let allowed = strings(error, ContextKind::ValidValue);
            let list = allowed.join(", ");
            match value().as_str() {
                "" if allowed.is_empty() => format!("{} needs a value", option()),
                "" => format!("{} needs a value: one of {list}", option()),
                found => {
                    format!("{} is {found}, but must be one of {list}{}", option(), hint(found, allowed))
                }
            }
        }
        ErrorKind::ValueValidation => format!("{}{}", option(), reason(error, &value())),
        ErrorKind::UnknownArgument => {
            let suggested = strings(error, ContextKind::SuggestedArg);
            let hint = suggested.first().map_or(String::new(), |option| format!("; did you mean {option}?"));
            format!("unknown option {}{hint}", option())
        }
        ErrorKind::InvalidSubcommand => {
            let found = strings(error, ContextKind::InvalidSubcommand).concat();
            let commands = super::command_names();
            let list = commands.join(", ");
            format!("unknown command {found}; the commands are {list}{}", hint(&found, commands))
        }
        ErrorKind::MissingRequiredArgument => {
            format!("missing {}", strings(error, ContextKind::InvalidArg).join(", "))
        }
        ErrorKind::ArgumentConflict => {
            let others = names(error, ContextKind::PriorArg);
            if others.contains(&option()) {
                return format!("{} is given more than once", option());
            }
            format!("{} and {} cannot be used together", option(), others.join(", "))
        }
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            first.strip_prefix("error: ").unwrap_or(first).to_owned()
        }
    }
}

/// The end of a message about a value that a parser refused.
fn reason(error: &clap::Error, value: &str) -> String {
    let Some(source) = error.source() else { return format!(" is {value}, which is invalid") };
    if let Some(must_be) = source.downcast_ref::<MustBe>() {
        return format!(" is {value}, but {must_be}");
    }
    if source.is::<ParseIntError>() {
        return format!(" is {value}, but must be a whole number of at least 0");
    }
    if source.is::<ParseFloatError>() {
        return format!(" is {value}, but must be a number");
    }
    format!(": {source}")
}

fn hint(found: &str, allowed: Vec<String>) -> String {
    nearest(found, allowed.into_iter()).map_or(String::new(), |(_, name)| format!("; did you mean {name}?"))
}

fn strings(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

/// The names of options, without their values: `--out` of `--out <FILE>`.
fn names(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    let name =
        |text: String| text.split([' ', '=']).next().unwrap_or_default().trim_end_matches("...").to_owned();
    strings(error, kind).into_iter().map(name).collect()
}
