//! Errors of checkpoints.

use std::path::PathBuf;

use crate::error::{ExitStatus, ModuleError};

#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error(
        "{}: {newest}, and {}: {previous_damage}; nothing can be resumed, so delete them to start from the beginning",
        file.display(), previous.display()
    )]
    Damaged { file: PathBuf, newest: Damage, previous: PathBuf, previous_damage: Damage },
    #[error(
        "{}: was {difference}; pass the same data and options, or delete it to start from the beginning",
        file.display()
    )]
    Differs { file: PathBuf, difference: String },
    #[error(
        "{}: an earlier run left this checkpoint; pass --resume to continue it, or --force to start from the \
         beginning", file.display()
    )]
    AlreadyExists { file: PathBuf },
}

impl ModuleError for CheckpointError {
    fn status(&self) -> ExitStatus {
        match self {
            // The disk may become readable again.
            CheckpointError::Damaged { newest: Damage::Unreadable(_), .. } => ExitStatus::Failure,
            _ => ExitStatus::BadInput,
        }
    }
}

/// The damage of a checkpoint file.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    #[error("no such file")]
    Missing,
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    #[error("not a macrok checkpoint, or written by an incompatible version")]
    NotACheckpoint,
    #[error("is damaged: it is truncated at {bytes} bytes")]
    Truncated { bytes: u64 },
    #[error("is damaged: wrong checksum of {what}")]
    Checksum { what: &'static str },
}
