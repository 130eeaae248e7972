//! What can go wrong, and the exit status it leads to.

use crate::checkpoint::CheckpointError;
use crate::estimate::EstimateError;
use crate::experiment::ExperimentError;
use crate::import::ImportError;
use crate::measure::{FormulaError, MeasureError};
use crate::memory::Refusal;
use crate::store::StoreError;

/// The exit statuses scripts may rely on (DESIGN, promise 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Anything that is neither the input's nor the caller's fault.
    Failure = 1,
    /// Bad input or bad usage: running again will not help.
    BadInput = 2,
    /// Stopped early and in order: it can go on later (EX_TEMPFAIL of sysexits.h).
    Stopped = 75,
}

impl Status {
    pub fn code(self) -> i32 {
        self as i32
    }

    #[cfg(feature = "mpi")]
    fn from_code(code: u64) -> Status {
        [Status::BadInput, Status::Stopped]
            .into_iter()
            .find(|status| status.code() as u64 == code)
            .unwrap_or(Status::Failure)
    }
}

/// Every error of the library, one variant a room, and one for what all ranks have agreed on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Formula(#[from] FormulaError),
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// The data do not fit into the memory of a node.
    #[error(transparent)]
    Memory(#[from] Refusal),
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// Options that do not fit together or do not fit the data.
    #[error("{0}")]
    Usage(String),
    /// Standard output or a side file could not be written.
    #[error("cannot write {what}: {source}")]
    Output { what: String, source: std::io::Error },
    /// A checkpoint that cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Asked to stop, and did: why, where, and what is saved.
    #[error("{0}")]
    Stopped(String),
    /// Asked to stop, and what was done is lost.
    #[error("{0}")]
    Unsaved(String),
    /// Bad usage that another process of the job tells about.
    #[error("told by another process")]
    Silent,
    /// What `World::agree` gives to every rank when at least one of them failed.
    #[error("{message}")]
    Agreed { message: String, status: Status },
}

impl Error {
    pub fn status(&self) -> Status {
        match self {
            Error::Store(error) => error.status(),
            // A formula that has no value where it is needed is the user's too.
            Error::Import(_)
            | Error::Formula(_)
            | Error::Measure(_)
            | Error::Estimate(_)
            | Error::Usage(_) => Status::BadInput,
            // Another job must be asked for: the same one will not fit the next time either.
            Error::Memory(_) | Error::Silent => Status::BadInput,
            Error::Checkpoint(error) => error.status(),
            Error::Stopped(_) => Status::Stopped,
            Error::Output { .. } | Error::Unsaved(_) => Status::Failure,
            Error::Experiment(error) => error.status(),
            Error::Agreed { status, .. } => *status,
        }
    }

    #[cfg(feature = "mpi")]
    pub(crate) fn agreed(message: Vec<u8>, code: u64) -> Error {
        Error::Agreed {
            message: String::from_utf8_lossy(&message).into_owned(),
            status: Status::from_code(code),
        }
    }
}

/// Shorthand for a usage error: what was asked, why it cannot be, what to do.
pub fn usage<T>(message: impl Into<String>) -> Result<T, Error> {
    Err(Error::Usage(message.into()))
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
