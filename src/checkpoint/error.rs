//! Why a checkpoint cannot be used.

use std::path::PathBuf;

use crate::error::{ExitStatus, ModuleError};

#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error(
        "{}: {newest}, and {}: {previous_damage}; nothing can be resumed, remove what is there to start from the beginning",
        file.display(), previous.display()
    )]
    Damaged { file: PathBuf, newest: Damage, previous: PathBuf, previous_damage: Damage },
    #[error(
        "{}: was {difference}; give the same data and options, or remove it to start from the beginning",
        file.display()
    )]
    Differs { file: PathBuf, difference: String },
    #[error(
        "{}: an earlier run left this checkpoint; pass --resume to go on from it, or --force to start from the \
         beginning", file.display()
    )]
    AlreadyExists { file: PathBuf },
}

impl ModuleError for CheckpointError {
    fn status(&self) -> ExitStatus {
        match self {
            // A disk that cannot be read now may be there again tomorrow.
            CheckpointError::Damaged { newest: Damage::Unreadable(_), .. } => ExitStatus::Failure,
            _ => ExitStatus::BadInput,
        }
    }
}

/// What is wrong with a file that should hold a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    #[error("no such file")]
    Missing,
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    #[error("is no checkpoint of macrok, or one of another version")]
    NotACheckpoint,
    #[error("is damaged: it ends too early, at {bytes} bytes")]
    Truncated { bytes: u64 },
    #[error("is damaged: the checksum of {what} is wrong")]
    Checksum { what: &'static str },
}
