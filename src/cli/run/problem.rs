//! Errors in job files, one variant per cause, each with its line.

use crate::error::Error;
use crate::measure::FormulaError;

/// A problem and its line.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub(super) struct JobError {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    pub problem: Box<Problem>,
}

/// `section` is ` in [fit]`, or empty for the keys before the first section.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    #[error("not valid TOML: {fault}, in `{source_line}`")]
    Syntax { fault: String, source_line: String },
    #[error("unknown key `{key}`{section}{hint}{} allowed: {}", if hint.0.is_some() { "" } else { ";" }, allowed.join(", "))]
    UnknownKey { key: String, section: String, hint: Hint, allowed: Vec<String> },
    #[error("`{key}`{section} is {found}, but must be {wanted}{hint}")]
    InvalidValue { key: String, section: String, found: String, wanted: String, hint: Hint },
    #[error("`{key}`{section} has {found}, but every value must be {wanted}{hint}")]
    InvalidListValue { key: String, section: String, found: String, wanted: String, hint: Hint },
    #[error("`{key}`{section} is empty, but must have at least one value")]
    EmptyList { key: String, section: String },
    #[error("`{key}`{section} has {found} twice; leave one of them out")]
    DuplicateValue { key: String, section: String, found: String },
    #[error("`{key}`{section}: {fault}")]
    Formula { key: String, section: String, fault: FormulaError },
    #[error("{0}")]
    Option(String),
    #[error("[{section}] needs `{key}`: {why}")]
    MissingKey { section: &'static str, key: &'static str, why: &'static str },
    #[error(
        "[{section}] has both `{first}` and `{second}`, but rows are either read or generated; leave one out"
    )]
    FilesAndSynth { section: &'static str, first: &'static str, second: &'static str },
    #[error("`{key}`{section} is {found}, but {{data}} needs --data; run: macrok run {file} --data FOLDER")]
    NoDataFolder { key: String, section: String, found: String, file: String },
    #[error(
        "`{key}`{section} is {found}, but a path may only start with {{data}} (the folder of --data) and contain \
         {{name}} (the name of the job file)"
    )]
    Placeholder { key: String, section: String, found: String },
    #[error("{0}")]
    File(Error),
    #[error("{0}")]
    Inconsistent(String),
}

/// The name that was probably meant.
#[derive(Debug, PartialEq)]
pub(super) struct Hint(pub Option<String>);

impl std::fmt::Display for Hint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            None => Ok(()),
            Some(name) => write!(f, "; did you mean `{name}`?"),
        }
    }
}

impl From<JobError> for Error {
    fn from(error: JobError) -> Error {
        // A file that cannot be read is not an error of the job and has a different exit status.
        match error.problem.as_ref() {
            Problem::File(cause) if cause.status() == crate::error::ExitStatus::Failure => {
                Error::Agreed { message: error.to_string(), status: cause.status() }
            }
            _ => Error::Usage(error.to_string()),
        }
    }
}

pub(super) type Result<T> = std::result::Result<T, JobError>;
