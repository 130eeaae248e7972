//! Errors of the program and their exit statuses.
//!
//! Each module has its own error type, which implements [`ModuleError`] and converts into [`Error`] with `?`.

/// The exit statuses scripts may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Any other failure.
    Failure = 1,
    /// Bad input or usage: running again does not help.
    BadInput = 2,
    /// Stopped early and resumable (EX_TEMPFAIL of sysexits.h).
    Stopped = 75,
}

impl ExitStatus {
    pub fn code(self) -> i32 {
        self as i32
    }

    #[cfg(feature = "mpi")]
    fn from_code(code: u64) -> ExitStatus {
        [ExitStatus::BadInput, ExitStatus::Stopped]
            .into_iter()
            .find(|status| status.code() as u64 == code)
            .unwrap_or(ExitStatus::Failure)
    }
}

/// An error type of one module.
pub trait ModuleError: std::error::Error + Send + Sync + 'static {
    /// Returns the exit status that the error leads to.
    fn status(&self) -> ExitStatus {
        ExitStatus::BadInput
    }
}

/// An error of any module, a usage error, or an error that all ranks agreed on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of one module.
    #[error("{error}")]
    Module { error: Box<dyn std::error::Error + Send + Sync>, status: ExitStatus },
    /// Options that do not fit together or do not fit the data.
    #[error("{0}")]
    Usage(String),
    /// Standard output or a side file could not be written.
    #[error("cannot write {what}: {source}")]
    Output { what: String, source: std::io::Error },
    /// Stopped on request; the message says why, where, and what is saved.
    #[error("{0}")]
    Stopped(String),
    /// Stopped on request with the work lost.
    #[error("{0}")]
    StoppedUnsaved(String),
    /// Bad usage that another process of the job reports.
    #[error("already reported by another process")]
    ReportedElsewhere,
    /// An error of the first rank that failed, returned by `World::agree` on every rank.
    #[error("{message}")]
    Agreed { message: String, status: ExitStatus },
}

impl<E: ModuleError> From<E> for Error {
    fn from(error: E) -> Error {
        Error::Module { status: error.status(), error: Box::new(error) }
    }
}

impl Error {
    pub fn status(&self) -> ExitStatus {
        match self {
            Error::Usage(_) | Error::ReportedElsewhere => ExitStatus::BadInput,
            Error::Stopped(_) => ExitStatus::Stopped,
            Error::Output { .. } | Error::StoppedUnsaved(_) => ExitStatus::Failure,
            Error::Module { status, .. } | Error::Agreed { status, .. } => *status,
        }
    }

    /// Returns the error of one module, if it is one of type `E`.
    pub fn downcast_ref<E: ModuleError>(&self) -> Option<&E> {
        match self {
            Error::Module { error, .. } => error.downcast_ref(),
            _ => None,
        }
    }

    #[cfg(feature = "mpi")]
    pub(crate) fn agreed(message: Vec<u8>, code: u64) -> Error {
        Error::Agreed {
            message: String::from_utf8_lossy(&message).into_owned(),
            status: ExitStatus::from_code(code),
        }
    }
}

/// Returns a usage error.
pub fn usage<T>(message: impl Into<String>) -> Result<T, Error> {
    Err(Error::Usage(message.into()))
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
