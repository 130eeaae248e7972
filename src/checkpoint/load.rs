//! Finding the newest snapshot that is whole.

use std::path::Path;

use super::Fingerprint;
use super::error::{CheckpointError, Damage};
use super::format::{Index, read_index, read_parts};
use super::generations::{Checkpoint, There, is_there, previous};

/// A snapshot as it was saved.
pub struct Found {
    pub lasting: Vec<Vec<u8>>,
    pub fresh: Vec<u8>,
    /// Where to save the next.
    pub checkpoint: Checkpoint,
    /// What was wrong with the newest, when this is the one before.
    pub damaged: Option<Damage>,
}

/// Whether a snapshot is there, and was made by what has the facts `now`, as far as both are known. Quick: the
/// parts are not looked at.
pub fn look(file: &Path, now: &Fingerprint) -> Result<bool, CheckpointError> {
    if !is_there(file) {
        return Ok(false);
    }
    newest(file, |path| Ok(read_index(path)?.0), |index| check(file, index, now)).map(|_| true)
}

/// The newest whole snapshot, if there is one at all; it must have been made by what has the facts `now`.
pub fn load(file: &Path, now: &Fingerprint) -> Result<Option<Found>, CheckpointError> {
    if !is_there(file) {
        return Ok(None);
    }
    let read = |path: &Path| {
        let (index, mut file) = read_index(path)?;
        let parts = read_parts(&index, &mut file)?;
        Ok((index, parts))
    };
    let ((_, (lasting, fresh)), damaged) = newest(file, read, |(index, _)| check(file, index, now))?;
    let there = if damaged.is_some() { There::Damaged } else { There::Ours };
    let checkpoint = Checkpoint::at(file, now.clone(), there);
    Ok(Some(Found { lasting, fresh, checkpoint, damaged }))
}

/// What `read` finds in the newest file, or, when that is damaged, in the one before.
fn newest<T>(
    file: &Path,
    read: impl Fn(&Path) -> Result<T, Damage>,
    check: impl Fn(&T) -> Result<(), CheckpointError>,
) -> Result<(T, Option<Damage>), CheckpointError> {
    let (found, damaged) = match read(file) {
        Ok(found) => (found, None),
        Err(newest) => match read(&previous(file)) {
            Ok(found) => (found, Some(newest)),
            Err(before) => {
                let (file, previous) = (file.into(), previous(file));
                return Err(CheckpointError::Damaged { file, newest, previous, before });
            }
        },
    };
    check(&found)?;
    Ok((found, damaged))
}

fn check(file: &Path, index: &Index, now: &Fingerprint) -> Result<(), CheckpointError> {
    match index.facts.difference(now) {
        Some(difference) => Err(CheckpointError::Differs { file: file.into(), difference }),
        None => Ok(()),
    }
}
