//! The command line that resumes a stopped run.

use crate::error::{Error, ExitStatus};
use crate::slurm::shell_line;
use crate::world::World;

/// Adds the command line that resumes the run to the message of a stopped run. `option` makes the command resume; a command
/// without such an option resumes unless --force is given.
pub(super) fn add_resume_command(world: &World, error: Error, option: Option<&str>) -> Error {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let ranks = if world.size() > 1 { ", on any number of ranks" } else { "" };
    let message = format!("{error}; to resume{ranks}: {}", resume_command(&arguments, option));
    Error::Agreed { message, status: ExitStatus::Stopped }
}

/// The command line that resumes.
fn resume_command(arguments: &[String], option: Option<&str>) -> String {
    let kept = arguments.iter().filter(|&argument| option.is_some() || argument != "--force");
    let missing = option.filter(|&option| !arguments.iter().any(|argument| argument == option));
    shell_line(&kept.cloned().chain(missing.map(str::to_owned)).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(line: &[&str]) -> String {
        resume_command(&line.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(), Some("--resume"))
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(
            again(&["macrok", "fit", "--metric", "0.3*recall + it's", "--out", "a b.h5"]),
            "macrok fit --metric '0.3*recall + it'\\''s' --out 'a b.h5' --resume"
        );
    }

    #[test]
    fn force_is_removed_from_commands_that_resume_without_an_option() {
        let line = ["macrok", "run", "job.toml", "--force"].map(str::to_owned);
        assert_eq!(resume_command(&line, None), "macrok run job.toml");
    }

    #[test]
    fn resume_is_not_added_twice() {
        assert_eq!(again(&["macrok", "fit", "--resume", "-k", "3"]), "macrok fit --resume -k 3");
    }
}
