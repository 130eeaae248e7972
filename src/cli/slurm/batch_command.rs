//! The command of a batch script.

use crate::cli::definition::Detail;
use crate::cli::{Command, CommandLine, evaluate, fit, parse_words, predict, run, usage_error};
use crate::error::{Result, usage};
use crate::load::memory_of_each_rank;
use crate::slurm::ScriptKind;
use crate::store::Overwrite;

/// The words after `--`.
pub(super) enum BatchCommand {
    /// A name without arguments: those of sbatch.
    NameOnly(ScriptKind),
    /// A complete command line.
    WithArguments { kind: ScriptKind, command: Box<Command>, overwrite: Overwrite, arguments: Vec<String> },
}

impl BatchCommand {
    pub fn parse(words: &[String]) -> Result<BatchCommand> {
        let name = words.first().map_or("", String::as_str);
        let Some(kind) = ScriptKind::COMMANDS.into_iter().find(|kind| kind.name() == name) else {
            let names = ScriptKind::COMMANDS.map(ScriptKind::name).join(", ");
            return usage(format!("after --: the command is `{name}`, but must be one of {names}"));
        };
        if words.len() == 1 {
            return Ok(BatchCommand::NameOnly(kind));
        }
        // The script adds this option.
        let resume =
            (kind.takes_resume() && !words.iter().any(|word| word == "--resume")).then_some("--resume");
        let words_of_job = ["macrok"].into_iter().chain(words.iter().map(String::as_str)).chain(resume);
        match parse_words(Detail::Summary, words_of_job) {
            Ok(CommandLine { command, global }) => {
                let overwrite = Overwrite::from_force(global.force);
                if let Command::Fit(args) = &command {
                    fit::load_request(args, overwrite)?;
                }
                let command = Box::new(command);
                Ok(BatchCommand::WithArguments { kind, command, overwrite, arguments: words[1..].to_vec() })
            }
            Err(error) => {
                let message = usage_error::message_with_pointer(&error, &format!("macrok {name}"));
                usage(format!("after --: {message}"))
            }
        }
    }

    pub fn kind(&self) -> ScriptKind {
        match *self {
            BatchCommand::NameOnly(kind) | BatchCommand::WithArguments { kind, .. } => kind,
        }
    }

    /// Bytes that each rank needs; `None` if the command does not say what it will load.
    pub fn memory_per_rank(&self, ranks: usize, threads: usize) -> Result<Option<Vec<u64>>> {
        let BatchCommand::WithArguments { command, overwrite, .. } = self else { return Ok(None) };
        let loads = match &**command {
            Command::Fit(args) => fit::load_request(args, *overwrite)?,
            Command::Predict(args) => predict::load_request(args)?,
            Command::Evaluate(args) => evaluate::load_request(args)?,
            Command::Run(args) => return run::memory_per_rank(args, ranks, threads),
            _ => return Ok(None),
        };
        Ok(Some(memory_of_each_rank(&loads.options, loads.extra, ranks, threads)?))
    }
}
