//! How a run that was stopped is started again.

use crate::error::{Error, Status};
use crate::world::World;

/// Adds to the message of a run that was stopped what to type.
pub(super) fn say_how(world: &World, error: Error) -> Error {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let ranks = if world.size() > 1 { ", on any number of ranks" } else { "" };
    let message = format!("{error}; to go on{ranks}: {}", command(&arguments));
    Error::Agreed { message, status: Status::Stopped }
}

/// The same command, going on.
fn command(arguments: &[String]) -> String {
    let mut words: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
    if !arguments.iter().any(|argument| argument == "--resume") {
        words.push("--resume".into());
    }
    words.join(" ")
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
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
        command(&line.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_command_can_be_typed_again() {
        assert_eq!(
            again(&["macrok", "fit", "--metric", "0.3*recall + it's", "--out", "a b.h5"]),
            "macrok fit --metric '0.3*recall + it'\\''s' --out 'a b.h5' --resume"
        );
    }

    #[test]
    fn resume_is_not_said_twice() {
        assert_eq!(again(&["macrok", "fit", "--resume", "-k", "3"]), "macrok fit --resume -k 3");
    }
}
