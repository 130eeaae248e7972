//! Where a fit keeps how far it has come, and what it does with what is there already.

use std::path::{Path, PathBuf};

use super::checkpoint_codec::RestoreInputs;
use super::state::{FitState, IterationCursor};
use crate::checkpoint::{Checkpoint, CheckpointError, Fingerprint, is_resumable, load, snapshot_exists};
use crate::error::Result;
use crate::store::Overwrite;

#[derive(Clone, Debug)]
pub struct CheckpointPolicy {
    pub file: PathBuf,
    /// Iterations from one checkpoint to the next, at least 1.
    pub interval: usize,
    pub existing: ExistingCheckpoint,
}

/// What becomes of a checkpoint that an earlier run left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingCheckpoint {
    /// It is an error: it may hold hours of work.
    Refuse,
    Replace,
    /// The fit goes on from there; when there is none, it begins.
    Resume,
}

/// What was found there.
pub(super) struct OpenedCheckpoint {
    pub checkpoint: Checkpoint,
    pub resumed: Option<(IterationCursor, FitState)>,
    pub note: Option<String>,
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
    /// In `file`, or beside the output.
    pub fn for_output(
        out: &Path,
        file: Option<PathBuf>,
        interval: usize,
        existing: ExistingCheckpoint,
    ) -> CheckpointPolicy {
        let beside = || {
            let mut name = out.as_os_str().to_owned();
            name.push(".checkpoint");
            name.into()
        };
        CheckpointPolicy { file: file.unwrap_or_else(beside), interval, existing }
    }

    /// Fails now rather than after hours of loading, as far as can be known from what is asked. Says whether there is
    /// something to go on from. For rank 0.
    pub fn check(&self, request: &Fingerprint) -> Result<bool> {
        if self.existing == ExistingCheckpoint::Refuse && snapshot_exists(&self.file) {
            return Err(CheckpointError::AlreadyExists { file: self.file.clone() }.into());
        }
        Overwrite::Replace.check(&self.file)?;
        Ok(self.existing == ExistingCheckpoint::Resume && is_resumable(&self.file, request)?)
    }

    /// For rank 0.
    pub(super) fn open(
        &self,
        fingerprint: Fingerprint,
        inputs: &RestoreInputs<'_>,
    ) -> Result<OpenedCheckpoint> {
        let found = match self.existing {
            ExistingCheckpoint::Resume => load(&self.file, &fingerprint)?,
            ExistingCheckpoint::Refuse | ExistingCheckpoint::Replace => None,
        };
        let Some(found) = found else {
            let checkpoint = Checkpoint::begin(&self.file, fingerprint);
            return Ok(OpenedCheckpoint { checkpoint, resumed: None, note: None });
        };
        let Some((cursor, state)) = inputs.restore(found.lasting, &found.fresh) else {
            let difference =
                "made by another program of the same version, or on a machine that computes differently"
                    .into();
            return Err(CheckpointError::Differs { file: self.file.clone(), difference }.into());
        };
        let note = found
            .newest_damage
            .map(|damage| format!("{}: {damage}; going on from the one before", self.file.display()));
        Ok(OpenedCheckpoint { checkpoint: found.checkpoint, resumed: Some((cursor, state)), note })
    }
}
