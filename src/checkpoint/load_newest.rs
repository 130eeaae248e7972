//! Finding the newest snapshot that is whole.

use std::path::Path;

use super::Fingerprint;
use super::error::{CheckpointError, Damage};
use super::format::{Index, read_index, read_parts};
use super::snapshot_files::{Checkpoint, NewestStatus, previous_path, snapshot_exists};

/// A snapshot as it was saved.
pub struct LoadedSnapshot {
    pub lasting: Vec<Vec<u8>>,
    pub fresh: Vec<u8>,
    /// Where to save the next.
    pub checkpoint: Checkpoint,
    /// What was wrong with the newest, when this is the one before.
    pub newest_damage: Option<Damage>,
}

/// Whether a snapshot is there, and was made by what has the fingerprint `now`, as far as both are known. Quick: the
/// parts are not looked at.
pub fn is_resumable(file: &Path, now: &Fingerprint) -> Result<bool, CheckpointError> {
    if !snapshot_exists(file) {
        return Ok(false);
    }
    newest(file, |path| Ok(read_index(path)?.0), |index| check(file, index, now)).map(|_| true)
}

/// The newest whole snapshot, if there is one at all; it must have been made by what has the fingerprint `now`.
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
    Ok(Some(LoadedSnapshot { lasting, fresh, checkpoint, newest_damage }))
}

/// What `read` finds in the newest file, or, when that is damaged, in the one before.
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
