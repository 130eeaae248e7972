//! The state of a step before the run: finished by an earlier one, or to do.

use std::fmt;

use serde_json::Value;

use super::folder::Folder;
use super::hash_cache::HashCache;
use super::record::Record;
use super::step::{Action, ExperimentStep};
use crate::checkpoint::snapshot_exists;

/// The state of a step before the run.
#[derive(Debug)]
pub enum StepState {
    /// The recorded result, to be reused.
    Done(Value),
    ToDo(ToDoReason),
}

impl StepState {
    /// Returns the recorded result, or null.
    pub(super) fn into_result(self) -> Value {
        match self {
            StepState::Done(result) => result,
            StepState::ToDo(_) => Value::Null,
        }
    }
}

/// The reason to run a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToDoReason {
    New,
    /// An earlier run stopped within the step.
    HasCheckpoint,
    Forced,
    /// With the differences.
    Changed(String),
    DamagedRecord,
    OutputMissing,
    OutputDiffers,
}

impl fmt::Display for ToDoReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ToDoReason::New => "to do",
            ToDoReason::HasCheckpoint => "to resume from its checkpoint",
            ToDoReason::Forced => "to do again: --force",
            ToDoReason::Changed(difference) => return write!(f, "to do again: {}", shortened(difference)),
            ToDoReason::DamagedRecord => "to do again: its record is damaged",
            ToDoReason::OutputMissing => "to do again: its file is missing",
            ToDoReason::OutputDiffers => "to do again: its file has changed",
        })
    }
}

/// Shortens hashes to their first digits.
fn shortened(text: &str) -> String {
    const DIGITS: usize = 32;
    let shorten = |piece: &str| match piece.trim_end_matches(|c: char| !c.is_ascii_hexdigit()).len() {
        DIGITS => format!("{}...{}", &piece[..8], &piece[DIGITS..]),
        _ => piece.to_owned(),
    };
    text.split_inclusive(|c: char| !c.is_ascii_hexdigit()).map(shorten).collect()
}

/// Returns the state of a step according to the folder. On rank 0.
pub(super) fn step_state(folder: &Folder, hashes: &mut HashCache, step: &ExperimentStep) -> StepState {
    let reason = match reusable_record(folder, hashes, step) {
        Ok(record) => return StepState::Done(record.found),
        Err(reason) => reason,
    };
    let begun = match &step.action {
        Action::MakeClassifier(spec) => snapshot_exists(&folder.checkpoint(spec, &step.fingerprint_hash)),
        _ => false,
    };
    StepState::ToDo(if begun { ToDoReason::HasCheckpoint } else { reason })
}

/// Returns the record of a finished step, or the reason to run it.
fn reusable_record(
    folder: &Folder,
    hashes: &mut HashCache,
    step: &ExperimentStep,
) -> Result<Record, ToDoReason> {
    let record = Record::read(&folder.record_file(&step.action))?;
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
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortens_only_hashes() {
        let number = "0123456789abcdef0123456789abcdef";
        let text = format!("made with x = {number}:labels, but this run has x = {number}0 and beta = 0.5");
        let short =
            format!("made with x = 01234567...:labels, but this run has x = {number}0 and beta = 0.5");
        assert_eq!(shortened(&text), short);
        assert_eq!(shortened("no digit: %"), "no digit: %");
    }
}
