//! Where a fit keeps how far it has come, and what it does with what is there already.

use std::path::{Path, PathBuf};

use super::saved::Asked;
use super::state::{State, Turn};
use crate::checkpoint::{Checkpoint, CheckpointError, Fingerprint, is_there, load, look};
use crate::error::Result;
use crate::store::Overwrite;

#[derive(Clone, Debug)]
pub struct Keep {
    pub file: PathBuf,
    /// Iterations from one checkpoint to the next, at least 1.
    pub every: usize,
    pub existing: Existing,
}

/// What becomes of a checkpoint that an earlier run left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is an error: it may hold hours of work.
    Refuse,
    Replace,
    /// The fit goes on from there; when there is none, it begins.
    Resume,
}

/// What was found there.
pub(super) struct Opened {
    pub checkpoint: Checkpoint,
    pub resumed: Option<(Turn, State)>,
    pub note: Option<String>,
}

impl Existing {
    pub fn asked(resume: bool, overwrite: Overwrite) -> Existing {
        match overwrite {
            _ if resume => Existing::Resume,
            Overwrite::Replace => Existing::Replace,
            Overwrite::Refuse => Existing::Refuse,
        }
    }
}

impl Keep {
    /// In `file`, or beside the output.
    pub fn of_output(out: &Path, file: Option<PathBuf>, every: usize, existing: Existing) -> Keep {
        let beside = || {
            let mut name = out.as_os_str().to_owned();
            name.push(".checkpoint");
            name.into()
        };
        Keep { file: file.unwrap_or_else(beside), every, existing }
    }

    /// Fails now rather than after hours of loading, as far as can be known from what is asked. Says whether there is
    /// something to go on from. For rank 0.
    pub fn check(&self, asked: &Fingerprint) -> Result<bool> {
        if self.existing == Existing::Refuse && is_there(&self.file) {
            return Err(CheckpointError::Left { file: self.file.clone() }.into());
        }
        Overwrite::Replace.check(&self.file)?;
        Ok(self.existing == Existing::Resume && look(&self.file, asked)?)
    }

    /// For rank 0.
    pub(super) fn open(&self, facts: Fingerprint, asked: &Asked<'_>) -> Result<Opened> {
        let found = match self.existing {
            Existing::Resume => load(&self.file, &facts)?,
            Existing::Refuse | Existing::Replace => None,
        };
        let Some(found) = found else {
            let checkpoint = Checkpoint::begin(&self.file, facts);
            return Ok(Opened { checkpoint, resumed: None, note: None });
        };
        let Some((turn, state)) = asked.restore(found.lasting, &found.fresh) else {
            let difference =
                "made by another program of the same version, or on a machine that computes differently"
                    .into();
            return Err(CheckpointError::Differs { file: self.file.clone(), difference }.into());
        };
        let note = found
            .damaged
            .map(|damage| format!("{}: {damage}; going on from the one before", self.file.display()));
        Ok(Opened { checkpoint: found.checkpoint, resumed: Some((turn, state)), note })
    }
}
