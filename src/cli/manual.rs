//! `macrok completions` and `macrok man`: files for shells and for `man`, from the definition of the command line.

use std::path::PathBuf;

use super::common::Context;
use super::definition::{Detail, definition};
use crate::error::{Error, Result};
use crate::store::{StoreError, write_text};

/// Print the completions of a shell
#[derive(clap::Args)]
#[command(after_long_help = "\
Example:
  macrok completions bash > macrok.bash
Bash reads the file from ~/.local/share/bash-completion/completions/macrok, zsh as _macrok from a folder \
of $fpath, fish from ~/.config/fish/completions/macrok.fish.")]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
}

/// Print the manual page of macrok, or write those of all commands
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  macrok man > macrok.1
  macrok man --out man1
Then: man -l man1/macrok-fit.1")]
pub(super) struct ManArgs {
    /// The folder to write the pages of all commands into [default: that of macrok alone, to standard output]
    #[arg(short, long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub(super) fn print_completions(context: &Context<'_>, args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition(Detail::Manual), "macrok", &mut script);
    context.console.result(String::from_utf8_lossy(&script).trim_end());
    Ok(())
}

pub(super) fn run_man(context: &Context<'_>, args: &ManArgs) -> Result<()> {
    let mut command = definition(Detail::Manual);
    command.build();
    let Some(folder) = &args.out else {
        context.console.result(page(command)?.trim_end());
        return Ok(());
    };
    context.world.on_root(|| {
        let io = |source| StoreError::Io { file: folder.clone(), action: "create it", source };
        std::fs::create_dir_all(folder).map_err(io)?;
        for part in std::iter::once(&command).chain(command.get_subcommands()) {
            let name = part.get_display_name().unwrap_or(part.get_name());
            write_text(&folder.join(format!("{name}.1")), context.overwrite, &page(part.clone())?)?;
        }
        Ok(())
    })?;
    context.console.wrote(folder);
    Ok(())
}

/// The manual page of a command.
fn page(command: clap::Command) -> Result<String> {
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut text);
    rendered.map_err(|source| Error::Output { what: "the manual page".into(), source })?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
