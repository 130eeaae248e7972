//! Output of rank 0 for people and programs, on a terminal or in a log.

use std::fmt::Display;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::phases::Phases;
use super::table::Table;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::store::{Overwrite, write_text};
use crate::world::World;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Json {
    None,
    StandardOutput,
    File(PathBuf),
}

/// Prints on rank 0 only: lines on standard output, or on standard error if that is taken by JSON, and a bar for long
/// work if standard error is a terminal.
pub struct Console {
    is_root: bool,
    is_quiet: bool,
    has_bars: bool,
    has_colour: bool,
    json: Json,
    overwrite: Overwrite,
    bar: Mutex<Option<ProgressBar>>,
    next_row_is_header: AtomicBool,
}

const BOLD: &str = "1";
const YELLOW: &str = "33";

impl Console {
    /// `json` is the value of `--json`: a file, or `-` for standard output.
    pub fn new(world: &World, json: Option<&str>, overwrite: Overwrite, is_quiet: bool) -> Result<Console> {
        let json = match json {
            None => Json::None,
            Some("-") => Json::StandardOutput,
            Some(path) => Json::File(path.into()),
        };
        if let Json::File(path) = &json {
            world.on_root(|| Ok(overwrite.check_text(path)?))?;
        }
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let has_cursor = variable("TERM").is_none_or(|term| term != "dumb") && stderr().is_terminal();
        Ok(Console {
            is_root: world.is_root(),
            is_quiet,
            // Log lines would break the bars.
            has_bars: world.is_root() && !is_quiet && has_cursor && !tracing::enabled!(tracing::Level::INFO),
            // Open MPI gives its ranks a terminal as standard output even when its own is a file.
            has_colour: has_cursor && stdout().is_terminal() && variable("NO_COLOR").is_none(),
            json,
            overwrite,
            bar: Mutex::new(None),
            next_row_is_header: AtomicBool::new(false),
        })
    }

    /// Prints a line for people. A reader that closes the pipe (`| head`) does not stop the work.
    pub fn line(&self, text: impl Display) {
        if !self.is_root || self.is_quiet {
            return;
        }
        self.above_bar(|| {
            let _ = match self.json {
                Json::StandardOutput => writeln!(stderr(), "{text}"),
                _ => writeln!(stdout(), "{text}"),
            };
        });
    }

    /// Prints a table, its header in bold.
    pub fn table(&self, table: &Table) {
        let text = table.to_string();
        let (header, rows) = text.split_once('\n').unwrap_or((&text, ""));
        let gap = if rows.is_empty() { "" } else { "\n" };
        self.line(format_args!("{}{gap}{rows}", self.painted(header, BOLD)));
    }

    /// Prints the text that a command exists to print, even when the console is quiet.
    pub fn result(&self, text: impl Display) {
        match self.json {
            _ if !self.is_root => (),
            Json::StandardOutput => drop(writeln!(stderr(), "{text}")),
            _ => print_stdout(text),
        }
    }

    /// Prints a problem that the user should know about but that does not stop the work.
    pub fn warn(&self, text: impl Display) {
        if self.is_root {
            let prefix = self.painted("macrok: warning:", YELLOW);
            self.above_bar(|| drop(writeln!(stderr(), "{prefix} {text}")));
        }
    }

    fn painted(&self, text: &str, colour: &str) -> String {
        if self.has_colour { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Prints while the bar, which stays the last line, is hidden.
    fn above_bar(&self, print: impl FnOnce()) {
        match &*self.bar() {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn replace_bar(&self, next: Option<ProgressBar>) {
        if let Some(previous) = std::mem::replace(&mut *self.bar(), next) {
            previous.finish_and_clear();
        }
    }

    /// Writes the results as JSON if they were requested. Collective.
    pub fn json(&self, world: &World, results: impl FnOnce() -> serde_json::Value) -> Result<()> {
        if self.json == Json::None {
            return Ok(());
        }
        world.on_root(|| {
            let text = format!("{:#}\n", results());
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

    /// Names a file that was written.
    pub fn wrote(&self, path: &Path) {
        self.line(format_args!("wrote {}", path.display()));
    }

    /// Prints the time and memory of the phases of a command, below an empty line.
    pub fn phases(&self, phases: &Phases) {
        self.line("");
        self.table(&phases.table());
    }
}

impl Progress for Console {
    fn started(&self, work: &str, total: u64, done: u64) {
        self.next_row_is_header.store(true, Ordering::Relaxed);
        if !self.has_bars {
            return;
        }
        let bar = ProgressBar::new(total).with_prefix(work.to_owned()).with_position(done);
        let colour = if self.has_colour { ".cyan" } else { "" };
        let template =
            format!("{{prefix}} {{bar:30{colour}}} {{human_pos}}/{{human_len}}, {{eta}} left  {{wide_msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        self.replace_bar(Some(bar));
    }

    fn advanced(&self, units: u64) {
        // Many threads call this.
        if self.has_bars {
            self.bar().iter().for_each(|bar| bar.inc(units));
        }
    }

    fn status(&self, text: &str) {
        self.bar().iter().for_each(|bar| bar.set_message(text.to_owned()));
    }

    fn row(&self, line: &str) {
        match self.next_row_is_header.swap(false, Ordering::Relaxed) {
            true => self.line(self.painted(line, BOLD)),
            false => self.line(line),
        }
    }

    fn message(&self, text: &str) {
        self.line(text);
    }

    fn warning(&self, text: &str) {
        self.warn(text);
    }

    fn finished(&self) {
        self.replace_bar(None);
    }
}

/// The display of one of many works, such as the fits of a job: its newest result instead of its table.
pub struct PartDisplay<'c> {
    console: &'c Console,
    name: String,
    last_line: Mutex<Instant>,
}

impl<'c> PartDisplay<'c> {
    /// The time between two lines in a log.
    const LOG_INTERVAL: Duration = Duration::from_secs(20);

    pub fn new(console: &'c Console, name: String) -> PartDisplay<'c> {
        PartDisplay { console, name, last_line: Mutex::new(Instant::now()) }
    }
}

impl Progress for PartDisplay<'_> {
    fn status(&self, text: &str) {
        let text = format!("{}: {text}", self.name);
        self.console.status(&text);
        let mut last_line = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.console.has_bars && last_line.elapsed() >= PartDisplay::LOG_INTERVAL {
            *last_line = Instant::now();
            self.console.line(text);
        }
    }

    fn message(&self, text: &str) {
        self.console.line(format_args!("{}: {text}", self.name));
    }

    fn warning(&self, text: &str) {
        self.console.warn(text);
    }
}

/// Prints on standard output. A closed pipe is not an error.
pub fn print_stdout(text: impl Display) {
    let _ = writeln!(stdout(), "{text}");
}
