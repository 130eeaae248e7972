//! Whether a step has been done before.

use std::fmt;

use super::folder::Folder;
use super::hash_cache::HashCache;
use super::record::{Record, RecordRead};
use super::step::{Action, ExperimentStep};
use crate::checkpoint::snapshot_exists;

/// A step's state before anything is done.
#[derive(Debug)]
pub enum StepState {
    /// What was found then.
    Done(Box<DoneStep>),
    ToDo(ToDoReason),
}

impl StepState {
    /// What was found, if it was.
    pub(super) fn into_result(self) -> serde_json::Value {
        match self {
            StepState::Done(done) => done.0.found,
            StepState::ToDo(_) => serde_json::Value::Null,
        }
    }
}

/// The record of a step that need not be done again.
#[derive(Debug)]
pub struct DoneStep(pub(super) Record);

/// Why a step is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToDoReason {
    New,
    /// A run was stopped in the middle of it.
    HasCheckpoint,
    Forced,
    /// The difference.
    Changed(String),
    DamagedRecord,
    OutputMissing,
    OutputDiffers,
}

impl fmt::Display for ToDoReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToDoReason::New => write!(f, "to do"),
            ToDoReason::HasCheckpoint => write!(f, "to go on from its checkpoint"),
            ToDoReason::Forced => write!(f, "to do again: --force"),
            ToDoReason::Changed(difference) => write!(f, "to do again: {}", shortened(difference)),
            ToDoReason::DamagedRecord => write!(f, "to do again: its record is damaged"),
            ToDoReason::OutputMissing => write!(f, "to do again: its file is gone"),
            ToDoReason::OutputDiffers => write!(f, "to do again: its file is not the one that was made"),
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
pub(super) fn step_state(folder: &Folder, hashes: &mut HashCache, step: &ExperimentStep) -> StepState {
    let reason = match reusable_record(folder, hashes, step) {
        Ok(record) => return StepState::Done(Box::new(DoneStep(record))),
        Err(reason) => reason,
    };
    let begun = match &step.action {
        Action::MakeClassifier(spec) => snapshot_exists(&folder.checkpoint(spec, &step.fingerprint_hash)),
        _ => false,
    };
    StepState::ToDo(if begun { ToDoReason::HasCheckpoint } else { reason })
}

/// The record of a step that is done, or why it is not.
fn reusable_record(
    folder: &Folder,
    hashes: &mut HashCache,
    step: &ExperimentStep,
) -> Result<Record, ToDoReason> {
    let record = match Record::read(&folder.record_file(&step.action)) {
        RecordRead::Missing => return Err(ToDoReason::New),
        RecordRead::Damaged => return Err(ToDoReason::DamagedRecord),
        RecordRead::Valid(record) => record,
    };
    if record.facts != step.fingerprint {
        let difference = record.facts.difference(&step.fingerprint);
        return Err(ToDoReason::Changed(difference.unwrap_or_else(|| "other options".into())));
    }
    if let Some(path) = folder.output_file(&step.action) {
        let made = record.output.as_ref();
        match (hashes.output_hash(&path), made) {
            (Ok((bytes, content)), Some(made)) if (bytes, &content) == (made.bytes, &made.content) => (),
            (Err(_), _) => return Err(ToDoReason::OutputMissing),
            _ => return Err(ToDoReason::OutputDiffers),
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
