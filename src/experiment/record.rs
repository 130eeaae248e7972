//! Records of finished steps.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::ToDoReason;
use crate::checkpoint::Fingerprint;
use crate::error::Result;
use crate::store::{Overwrite, write_text};

/// A finished step: the facts it depends on, its output file and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub facts: Fingerprint,
    pub output: Option<OutputFile>,
    /// The result, which depends on the facts only.
    pub found: Value,
    pub seconds: f64,
}

/// The output file of a step, and the hash of its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OutputFile {
    pub bytes: u64,
    pub content: String,
}

#[derive(Serialize, Deserialize)]
struct RecordFile {
    checksum: String,
    record: Value,
}

impl Record {
    /// Reads a record, or returns why the step is to be run.
    pub fn read(path: &Path) -> Result<Record, ToDoReason> {
        let text = std::fs::read(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => ToDoReason::New,
            _ => ToDoReason::DamagedRecord,
        })?;
        let stored: Option<RecordFile> = serde_json::from_slice(&text).ok();
        let whole = stored.filter(|stored| stored.checksum == checksum(&stored.record));
        let record = whole.and_then(|stored| serde_json::from_value(stored.record).ok());
        record.ok_or(ToDoReason::DamagedRecord)
    }

    /// Writes the record completely or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let record = serde_json::to_value(self).expect("names and numbers can be written as JSON");
        let stored = RecordFile { checksum: checksum(&record), record };
        let text = serde_json::to_string_pretty(&stored).expect("names and numbers can be written as JSON");
        Ok(write_text(path, Overwrite::Replace, &format!("{text}\n"))?)
    }
}

fn checksum(record: &Value) -> String {
    format!("{:032x}", xxh3_128(record.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record() -> Record {
        Record {
            facts: Fingerprint::default().with("k", 3),
            output: Some(OutputFile { bytes: 7, content: "ab".into() }),
            // Numbers whose last bit is easily lost.
            found: json!({ "a": 0.1f64.next_up(), "b": 5e-324, "c": 8.41e21, "d": u64::MAX, "e": 1.0 / 3.0 }),
            seconds: 0.3,
        }
    }

    #[test]
    fn reads_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        assert_eq!(Record::read(&path), Err(ToDoReason::New));
        record().write(&path).unwrap();
        assert_eq!(Record::read(&path), Ok(record()));
    }

    #[test]
    fn detects_any_change_of_a_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.json");
        record().write(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to) in [("\"3\"", "\"4\""), ("\"bytes\": 7", "\"bytes\": 8"), ("0.3", "0.4"), ("}", "")] {
            assert!(text.contains(from), "{from} in {text}");
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            assert_eq!(Record::read(&path), Err(ToDoReason::DamagedRecord), "{from} to {to}");
        }
    }
}
