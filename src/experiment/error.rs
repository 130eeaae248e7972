//! Errors of an experiment and its folder.

use std::path::PathBuf;

use super::lock::Holder;
use crate::error::{ExitStatus, ModuleError};

#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    #[error("{}: another run uses this folder ({holder}); wait for it, or name another folder with --out", folder.display())]
    Busy { folder: PathBuf, holder: Holder },
    #[error(
        "{}: a run used this folder ({holder}), and this file system has no locks to tell whether it still does; if it \
         has ended, remove {}", folder.display(), lock.display()
    )]
    PerhapsBusy { folder: PathBuf, lock: PathBuf, holder: Holder },
    #[error(
        "{}: not empty, and not the folder of an experiment; name another folder with --out", folder.display()
    )]
    NotOurs { folder: PathBuf },
    #[error("{}: is a file, but the results need a folder; name a folder with --out", folder.display())]
    NotFolder { folder: PathBuf },
    #[error("{}: changed while the experiment was running; run it again", file.display())]
    Changed { file: PathBuf },
}

impl ModuleError for ExperimentError {
    fn status(&self) -> ExitStatus {
        match self {
            ExperimentError::NotOurs { .. } | ExperimentError::NotFolder { .. } => ExitStatus::BadInput,
            // The same command may work later.
            _ => ExitStatus::Failure,
        }
    }
}
