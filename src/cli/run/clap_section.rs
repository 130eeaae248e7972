//! Sections whose keys are options of a command, with their names, types, defaults, help and checks.

use std::any::TypeId;

use clap::{Arg, ArgAction, Args, Command};

use super::document::Section;
use super::item::Item;
use super::problem::{JobError, Problem, Result};
use crate::cli::definition::is_number;
use crate::cli::usage_error::message;
use crate::error::Error;

fn clap_command<T: Args>() -> Command {
    T::augment_args(Command::new("job").no_binary_name(true).disable_help_flag(true))
}

/// Returns the keys of the section.
pub(super) fn keys<T: Args>() -> Vec<String> {
    clap_command::<T>().get_arguments().filter_map(Arg::get_long).map(str::to_owned).collect()
}

/// Reads a section whose keys have been checked. Missing keys have the defaults of the command line.
pub(super) fn read_section<T: Args>(section: Section<'_>) -> Result<T> {
    let mut table = clap_command::<T>();
    let mut arguments = Vec::new();
    for item in section.items() {
        let known = table.get_arguments().find(|arg| arg.get_long() == Some(item.key)).cloned();
        if let Some(arg) = known {
            arguments.extend(argument(&arg, &item)?);
        }
    }
    let matches = table.try_get_matches_from_mut(arguments);
    let read = matches.and_then(|matches| T::from_arg_matches(&matches));
    read.map_err(|error| error_at_key::<T>(section, &Error::Usage(message(&error))))
}

/// Converts an item to an argument of the command line.
fn argument(arg: &Arg, item: &Item<'_>) -> Result<Option<String>> {
    let name = item.key;
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        let given = item.value.as_bool().ok_or_else(|| item.invalid("true or false"))?;
        return Ok(given.then(|| format!("--{name}")));
    }
    let choices = arg.get_possible_values();
    if !choices.is_empty() {
        let names: Vec<(&str, &str)> =
            choices.iter().map(|value| (value.get_name(), value.get_name())).collect();
        return Ok(Some(format!("--{name}={}", item.choice(&names)?)));
    }
    if let Some(delimiter) = arg.get_value_delimiter() {
        let like = arg.get_default_values().first().and_then(|value| value.to_str()).unwrap_or_default();
        let numbers = item.numbers(&list_as_toml(like, delimiter))?;
        return Ok(Some(format!("--{name}={}", numbers.join(&delimiter.to_string()))));
    }
    // The parser of the option judges numbers, and text in place of a number.
    let value = match is_number(arg) {
        true => item.number_text().unwrap_or_else(|| item.source_text()),
        false => item.text()?.to_owned(),
    };
    Ok(Some(format!("--{name}={value}")))
}

/// Turns an error about the options of a command into one about the keys of a section.
pub(super) fn error_at_key<T: Args>(section: Section<'_>, error: &Error) -> JobError {
    let message = error.to_string();
    let mut keys = keys::<T>();
    // `--propensity-a` before any name that is a prefix of it.
    keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
    let first = keys
        .iter()
        .filter_map(|key| Some((message.find(&format!("--{key}"))?, key)))
        .min_by_key(|(at, _)| *at)
        .map(|(_, key)| key.clone());
    let place = section.location_text();
    let mut text = message;
    for key in &keys {
        text = text.replace(&format!("--{key}"), &format!("`{key}`"));
    }
    let Some(first) = first else { return section.error(Problem::Option(text)) };
    let named = format!("`{first}`");
    let problem = Problem::Option(text.replacen(&named, &format!("{named}{place}"), 1));
    match section.item(&first) {
        Some(item) => item.error(problem),
        None => section.error(problem),
    }
}

/// Returns the part of the skeleton for this section.
pub(super) fn skeleton_section<T: Args>() -> String {
    let table = clap_command::<T>();
    let entry = |arg: &Arg| {
        let name = arg.get_long()?;
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let choices = arg.get_possible_values();
        let flag = matches!(arg.get_action(), ArgAction::SetTrue);
        let choices = if flag || choices.is_empty() {
            String::new()
        } else {
            let names: Vec<String> =
                choices.iter().map(|value| format!("\"{}\"", value.get_name())).collect();
            format!(": {}", names.join(" or "))
        };
        let default = arg.get_default_values().first().and_then(|value| value.to_str());
        let line = match default {
            _ if flag => format!("{name} = false"),
            Some(value) => format!("{name} = {}", as_toml(arg, value)),
            None => {
                format!("# {name} = {}", arg.get_value_names().map_or("...".into(), |names| names.join(" ")))
            }
        };
        Some(format!("# {help}{choices}\n{line}\n"))
    };
    table.get_arguments().filter_map(entry).collect()
}

fn list_as_toml(values: &str, delimiter: char) -> String {
    format!("[{}]", values.split(delimiter).collect::<Vec<_>>().join(", "))
}

fn as_toml(arg: &Arg, value: &str) -> String {
    if let Some(delimiter) = arg.get_value_delimiter() {
        return list_as_toml(value, delimiter);
    }
    let is_real = arg.get_value_parser().type_id() == TypeId::of::<f64>();
    match value.parse::<f64>() {
        Ok(_) if is_real && !value.contains('.') => format!("{value}.0"),
        Ok(number) if is_real && number != 0.0 && number.abs() < 1e-4 => format!("{number:e}"),
        Ok(_) => value.to_owned(),
        Err(_) => format!("\"{value}\""),
    }
}
