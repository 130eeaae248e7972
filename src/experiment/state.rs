//! Whether a step has been done before.

use std::fmt;

use super::folder::Folder;
use super::known_files::KnownFiles;
use super::record::{Kept, Record};
use super::step::{Step, Work};
use crate::checkpoint::is_there;

/// A step's state before anything is done.
#[derive(Debug)]
pub enum State {
    /// What was found then.
    Done(Box<Known>),
    ToDo(Reason),
}

impl State {
    /// What was found, if it was.
    pub(super) fn into_found(self) -> serde_json::Value {
        match self {
            State::Done(known) => known.0.found,
            State::ToDo(_) => serde_json::Value::Null,
        }
    }
}

/// The record of a step that need not be done again.
#[derive(Debug)]
pub struct Known(pub(super) Record);

/// Why a step is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    New,
    /// A run was stopped in the middle of it.
    Begun,
    Forced,
    /// The difference.
    Changed(String),
    DamagedRecord,
    NoOutput,
    OtherOutput,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::New => write!(f, "to do"),
            Reason::Begun => write!(f, "to go on from its checkpoint"),
            Reason::Forced => write!(f, "to do again: --force"),
            Reason::Changed(difference) => write!(f, "to do again: {}", shortened(difference)),
            Reason::DamagedRecord => write!(f, "to do again: its record is damaged"),
            Reason::NoOutput => write!(f, "to do again: its file is gone"),
            Reason::OtherOutput => write!(f, "to do again: its file is not the one that was made"),
        }
    }
}

/// Long numbers tell nobody more than their beginnings do.
fn shortened(text: &str) -> String {
    const DIGITS: usize = 32;
    let mut short = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let digits = rest[at..].find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len() - at);
        let shown = if digits == DIGITS { 8 } else { digits };
        short.push_str(&rest[..at + shown]);
        short.push_str(if digits == DIGITS { "..." } else { "" });
        rest = &rest[at + digits..];
    }
    short + rest
}

/// Looks for a step in the folder. On rank 0.
pub(super) fn state(folder: &Folder, known: &mut KnownFiles, step: &Step) -> State {
    let reason = match done(folder, known, step) {
        Ok(record) => return State::Done(Box::new(Known(record))),
        Err(reason) => reason,
    };
    let begun = match &step.work {
        Work::Find(subject) => is_there(&folder.checkpoint(subject, &step.identity)),
        _ => false,
    };
    State::ToDo(if begun { Reason::Begun } else { reason })
}

/// The record of a step that is done, or why it is not.
fn done(folder: &Folder, known: &mut KnownFiles, step: &Step) -> Result<Record, Reason> {
    let record = match Record::read(&folder.record(&step.work)) {
        Kept::Nothing => return Err(Reason::New),
        Kept::Damaged => return Err(Reason::DamagedRecord),
        Kept::Record(record) => record,
    };
    if record.facts != step.facts {
        let difference = record.facts.difference(&step.facts);
        return Err(Reason::Changed(difference.unwrap_or_else(|| "other options".into())));
    }
    if let Some(path) = folder.output(&step.work) {
        let made = record.output.as_ref();
        match (known.own(&path), made) {
            (Ok((bytes, content)), Some(made)) if (bytes, &content) == (made.bytes, &made.content) => (),
            (Err(_), _) => return Err(Reason::NoOutput),
            _ => return Err(Reason::OtherOutput),
        }
    }
    Ok(*record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_numbers_are_shortened() {
        let number = "0123456789abcdef0123456789abcdef";
        let text = format!("made with x = {number}:labels, but this run has x = {number}0 and beta = 0.5");
        let short =
            format!("made with x = 01234567...:labels, but this run has x = {number}0 and beta = 0.5");
        assert_eq!(shortened(&text), short);
        assert_eq!(shortened("no digit: %"), "no digit: %");
    }
}
