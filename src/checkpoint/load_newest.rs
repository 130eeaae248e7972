//! The search for the newest intact snapshot.

use std::path::{Path, PathBuf};

use super::Fingerprint;
use super::error::{CheckpointError, Damage};
use super::format::{Index, read_index, read_parts};
use super::snapshot_files::{Checkpoint, NewestStatus, previous_path, snapshot_exists};

/// The parts of a [`Snapshot`](super::Snapshot) that an earlier run has saved.
pub struct SavedParts {
    pub file: PathBuf,
    pub lasting: Vec<Vec<u8>>,
    pub fresh: Vec<u8>,
}

impl SavedParts {
    /// Returns the error for parts that do not fit the computation, although their fingerprint does.
    pub fn unusable(&self) -> CheckpointError {
        let difference =
            "made by another build of the same version, or on a machine that computes differently".into();
        CheckpointError::Differs { file: self.file.clone(), difference }
    }
}

pub struct LoadedSnapshot {
    pub parts: SavedParts,
    /// The checkpoint to save to from now on.
    pub checkpoint: Checkpoint,
    /// Damage of the newest snapshot, if this is the one before it.
    pub newest_damage: Option<Damage>,
}

/// Returns whether there is a snapshot to resume from, without reading its parts; fails if it was made by a computation whose
/// fingerprint differs from `now` in a fact that both have.
pub fn is_resumable(file: &Path, now: &Fingerprint) -> Result<bool, CheckpointError> {
    if !snapshot_exists(file) {
        return Ok(false);
    }
    newest(file, |path| Ok(read_index(path)?.0), |index| check(file, index, now)).map(|_| true)
}

/// Loads the newest intact snapshot, if there are any snapshots; fails if its fingerprint differs from `now`.
pub fn load(file: &Path, now: &Fingerprint) -> Result<Option<LoadedSnapshot>, CheckpointError> {
    if !snapshot_exists(file) {
        return Ok(None);
    }
    let read = |path: &Path| {
        let (index, mut file) = read_index(path)?;
        let parts = read_parts(&index, &mut file)?;
        Ok((index, parts))
    };
    let ((_, (lasting, fresh)), newest_damage) = newest(file, read, |(index, _)| check(file, index, now))?;
    let newest_status = if newest_damage.is_some() { NewestStatus::Damaged } else { NewestStatus::Ours };
    let checkpoint = Checkpoint::at(file, now.clone(), newest_status);
    let parts = SavedParts { file: file.into(), lasting, fresh };
    Ok(Some(LoadedSnapshot { parts, checkpoint, newest_damage }))
}

/// Reads the newest file or, if it is damaged, the one before it.
fn newest<T>(
    file: &Path,
    read: impl Fn(&Path) -> Result<T, Damage>,
    check: impl Fn(&T) -> Result<(), CheckpointError>,
) -> Result<(T, Option<Damage>), CheckpointError> {
    let (found, newest_damage) = match read(file) {
        Ok(found) => (found, None),
        Err(newest) => match read(&previous_path(file)) {
            Ok(found) => (found, Some(newest)),
            Err(previous_damage) => {
                let (file, previous) = (file.into(), previous_path(file));
                return Err(CheckpointError::Damaged { file, newest, previous, previous_damage });
            }
        },
    };
    check(&found)?;
    Ok((found, newest_damage))
}

fn check(file: &Path, index: &Index, now: &Fingerprint) -> Result<(), CheckpointError> {
    match index.fingerprint.difference(now) {
        Some(difference) => Err(CheckpointError::Differs { file: file.into(), difference }),
        None => Ok(()),
    }
}
