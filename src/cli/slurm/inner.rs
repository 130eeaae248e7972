//! The command that a script is for.

use clap::Parser;

use crate::cli::{Command, Typed, evaluate, fit, predict, run};
use crate::error::{Result, usage};
use crate::load::needs_of;
use crate::slurm::Work;
use crate::store::Overwrite;

/// What comes after `--`.
pub(super) enum Inner {
    /// A name alone: whatever sbatch is given.
    Any(Work),
    /// A whole command that its own command line accepts.
    One { work: Work, command: Box<Command>, overwrite: Overwrite, arguments: Vec<String> },
}

impl Inner {
    pub fn parse(words: &[String]) -> Result<Inner> {
        let name = words.first().map_or("", String::as_str);
        let Some(work) = Work::COMMANDS.into_iter().find(|work| work.name() == name) else {
            let names = Work::COMMANDS.map(Work::name).join(", ");
            return usage(format!(
                "after -- comes `{name}`, but a batch script can only be for one of {names}"
            ));
        };
        if words.len() == 1 {
            return Ok(Inner::Any(work));
        }
        // As the job will have it: the script adds this.
        let resume =
            (work.takes_resume() && !words.iter().any(|word| word == "--resume")).then_some("--resume");
        let typed = Typed::try_parse_from(
            ["macrok"].into_iter().chain(words.iter().map(String::as_str)).chain(resume),
        );
        match typed {
            Ok(Typed { command, force, .. }) => {
                let overwrite = Overwrite::from_force(force);
                if let Command::Fit(typed) = &command {
                    fit::loads(typed, overwrite)?;
                }
                let command = Box::new(command);
                Ok(Inner::One { work, command, overwrite, arguments: words[1..].to_vec() })
            }
            Err(error) => usage(format!("after --: {}; see macrok {name} --help", first_sentence(&error))),
        }
    }

    pub fn work(&self) -> Work {
        match *self {
            Inner::Any(work) | Inner::One { work, .. } => work,
        }
    }

    /// Bytes that each rank is going to need; `None` where the command does not say what it will load.
    pub fn needs(&self, ranks: usize, threads: usize) -> Result<Option<Vec<u64>>> {
        let Inner::One { command, overwrite, .. } = self else { return Ok(None) };
        let loads = match &**command {
            Command::Fit(typed) => fit::loads(typed, *overwrite)?,
            Command::Predict(typed) => predict::loads(typed)?,
            Command::Evaluate(typed) => evaluate::loads(typed)?,
            Command::Run(typed) => return run::needs(typed, ranks, threads),
            _ => return Ok(None),
        };
        Ok(Some(needs_of(&loads.options, loads.extra, ranks, threads)?))
    }
}

/// What clap says is wrong, without the usage below it.
fn first_sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}
