//! Where human output goes: standard output of rank 0, or standard error when JSON takes the former.

use std::fmt::Display;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::store::{Overwrite, write_text};
use crate::world::World;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Json {
    None,
    StandardOutput,
    File(PathBuf),
}

/// Prints on rank 0, nowhere else.
pub struct Console {
    is_root: bool,
    json: Json,
    overwrite: Overwrite,
}

impl Console {
    /// `json` is what `--json` was given: a file, or `-` for standard output.
    pub fn new(world: &World, json: Option<&str>, overwrite: Overwrite) -> Result<Console> {
        let json = match json {
            None => Json::None,
            Some("-") => Json::StandardOutput,
            Some(path) => Json::File(path.into()),
        };
        if let Json::File(path) = &json {
            world.on_root(|| Ok(overwrite.check_text(path)?))?;
        }
        Ok(Console { is_root: world.is_root(), json, overwrite })
    }

    /// One line for people. A reader that went away (`| head`) is no reason to stop working.
    pub fn line(&self, text: impl Display) {
        if !self.is_root {
            return;
        }
        let _ = match self.json {
            Json::StandardOutput => writeln!(stderr(), "{text}"),
            _ => writeln!(stdout(), "{text}"),
        };
    }

    /// Something the user should know but need not stop for.
    pub fn warn(&self, text: impl Display) {
        if self.is_root {
            let _ = writeln!(stderr(), "macrok: warning: {text}");
        }
    }

    /// Whether progress bars make sense.
    pub fn is_interactive(&self) -> bool {
        self.is_root && stderr().is_terminal()
    }

    /// The same facts for programs, when they were asked for. Collective.
    pub fn json(&self, world: &World, facts: impl FnOnce() -> serde_json::Value) -> Result<()> {
        if self.json == Json::None {
            return Ok(());
        }
        world.on_root(|| {
            let text = format!("{:#}\n", facts());
            match &self.json {
                Json::File(path) => Ok(write_text(path, self.overwrite, &text)?),
                _ => match stdout().write_all(text.as_bytes()) {
                    Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => {
                        Err(Error::Output { what: "JSON to standard output".into(), source })
                    }
                    _ => Ok(()),
                },
            }
        })
    }

    /// Says what was written.
    pub fn wrote(&self, path: &Path) {
        self.line(format_args!("wrote {}", path.display()));
    }
}
