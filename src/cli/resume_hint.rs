//! How a run that was stopped is started again.

use crate::error::{Error, ExitStatus};
use crate::world::World;

/// Adds to the message of a run that was stopped what to type. `option` is what makes the command go on; one that has none
/// goes on unless it is forced to begin.
pub(super) fn add_resume_command(world: &World, error: Error, option: Option<&str>) -> Error {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let ranks = if world.size() > 1 { ", on any number of ranks" } else { "" };
    let message = format!("{error}; to go on{ranks}: {}", resume_command(&arguments, option));
    Error::Agreed { message, status: ExitStatus::Stopped }
}

/// The same command, going on.
fn resume_command(arguments: &[String], option: Option<&str>) -> String {
    let kept = arguments.iter().filter(|&argument| option.is_some() || argument != "--force");
    let mut words: Vec<String> = kept.map(|argument| shell_quoted(argument)).collect();
    if let Some(option) = option.filter(|&option| !arguments.iter().any(|argument| argument == option)) {
        words.push(option.into());
    }
    words.join(" ")
}

/// As a shell takes it for one word.
fn shell_quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(line: &[&str]) -> String {
        resume_command(&line.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(), Some("--resume"))
    }

    #[test]
    fn the_command_can_be_typed_again() {
        assert_eq!(
            again(&["macrok", "fit", "--metric", "0.3*recall + it's", "--out", "a b.h5"]),
            "macrok fit --metric '0.3*recall + it'\\''s' --out 'a b.h5' --resume"
        );
    }

    #[test]
    fn what_goes_on_by_itself_is_not_forced_to_begin() {
        let line = ["macrok", "run", "job.toml", "--force"].map(str::to_owned);
        assert_eq!(resume_command(&line, None), "macrok run job.toml");
    }

    #[test]
    fn resume_is_not_said_twice() {
        assert_eq!(again(&["macrok", "fit", "--resume", "-k", "3"]), "macrok fit --resume -k 3");
    }
}
