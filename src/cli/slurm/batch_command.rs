//! The command that a script is for.

use clap::Parser;

use crate::cli::{Command, CommandLine, evaluate, fit, predict, run};
use crate::error::{Result, usage};
use crate::load::memory_of_each_rank;
use crate::slurm::ScriptKind;
use crate::store::Overwrite;

/// What comes after `--`.
pub(super) enum BatchCommand {
    /// A name alone: whatever sbatch is given.
    NameOnly(ScriptKind),
    /// A whole command that its own command line accepts.
    WithArguments { kind: ScriptKind, command: Box<Command>, overwrite: Overwrite, arguments: Vec<String> },
}

impl BatchCommand {
    pub fn parse(words: &[String]) -> Result<BatchCommand> {
        let name = words.first().map_or("", String::as_str);
        let Some(kind) = ScriptKind::COMMANDS.into_iter().find(|kind| kind.name() == name) else {
            let names = ScriptKind::COMMANDS.map(ScriptKind::name).join(", ");
            return usage(format!(
                "after -- comes `{name}`, but a batch script can only be for one of {names}"
            ));
        };
        if words.len() == 1 {
            return Ok(BatchCommand::NameOnly(kind));
        }
        // As the job will have it: the script adds this.
        let resume =
            (kind.takes_resume() && !words.iter().any(|word| word == "--resume")).then_some("--resume");
        let args = CommandLine::try_parse_from(
            ["macrok"].into_iter().chain(words.iter().map(String::as_str)).chain(resume),
        );
        match args {
            Ok(CommandLine { command, force, .. }) => {
                let overwrite = Overwrite::from_force(force);
                if let Command::Fit(args) = &command {
                    fit::load_request(args, overwrite)?;
                }
                let command = Box::new(command);
                Ok(BatchCommand::WithArguments { kind, command, overwrite, arguments: words[1..].to_vec() })
            }
            Err(error) => usage(format!("after --: {}; see macrok {name} --help", first_sentence(&error))),
        }
    }

    pub fn kind(&self) -> ScriptKind {
        match *self {
            BatchCommand::NameOnly(kind) | BatchCommand::WithArguments { kind, .. } => kind,
        }
    }

    /// Bytes that each rank is going to need; `None` where the command does not say what it will load.
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

/// What clap says is wrong, without the usage below it.
fn first_sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}
