//! The file of a checkpoint, and the treatment of one that already exists.

use std::path::{Path, PathBuf};

use super::load_newest::is_resumable;
use super::snapshot_files::{Checkpoint, snapshot_exists, with_suffix};
use super::{CheckpointError, Fingerprint};
use crate::error::Result;
use crate::store::Overwrite;

#[derive(Clone, Debug)]
pub struct CheckpointPolicy {
    pub file: PathBuf,
    /// Units of work from one checkpoint to the next, at least 1.
    pub interval: usize,
    pub existing: ExistingCheckpoint,
}

/// The treatment of a checkpoint that an earlier run left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingCheckpoint {
    /// An error: it may hold hours of work.
    Refuse,
    Replace,
    /// Resume from it, or start from the beginning without one.
    Resume,
}

impl ExistingCheckpoint {
    pub fn from_options(resume: bool, overwrite: Overwrite) -> ExistingCheckpoint {
        match overwrite {
            _ if resume => ExistingCheckpoint::Resume,
            Overwrite::Replace => ExistingCheckpoint::Replace,
            Overwrite::Refuse => ExistingCheckpoint::Refuse,
        }
    }
}

impl CheckpointPolicy {
    /// Keeps the checkpoint in `file`, or by default in the output file's path with `.checkpoint` appended.
    pub fn for_output(
        out: &Path,
        file: Option<PathBuf>,
        interval: usize,
        existing: ExistingCheckpoint,
    ) -> CheckpointPolicy {
        let file = file.unwrap_or_else(|| with_suffix(out, ".checkpoint"));
        CheckpointPolicy { file, interval, existing }
    }

    /// Checks what is possible before the data are loaded; `request` is the part of the fingerprint known by then. Returns
    /// whether there is a checkpoint to resume from. For rank 0.
    pub fn check(&self, request: &Fingerprint) -> Result<bool> {
        if self.existing == ExistingCheckpoint::Refuse && snapshot_exists(&self.file) {
            return Err(CheckpointError::AlreadyExists { file: self.file.clone() }.into());
        }
        Overwrite::Replace.check(&self.file)?;
        Ok(self.existing == ExistingCheckpoint::Resume && is_resumable(&self.file, request)?)
    }

    /// Deletes the checkpoint of a run that was killed after it had stored its result.
    pub fn remove_leftover(&self, fingerprint: &Fingerprint) {
        if is_resumable(&self.file, fingerprint).unwrap_or(false) {
            let _ = Checkpoint::begin(&self.file, fingerprint.clone()).remove();
        }
    }
}
