//! How far a long computation has come, kept on disk, so that it can go on after whatever ended it.
//!
//! This room knows nothing of what is computed. A [`Snapshot`] is a list of *lasting* parts, which never change once
//! they are there, and a *fresh* part that is new every time. A [`Fingerprint`] says what the computation depends
//! on. [`Checkpoint`] keeps the newest snapshot and the one before, each whole or not at all; [`CheckpointWriter`] does that
//! beside the computation. [`load`] finds the newest that is whole.
//!
//! One process reads and writes; which, and how the others hear of it, is for the caller to say.

mod background_writer;
mod error;
mod fingerprint;
mod format;
mod load_newest;
mod snapshot_files;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use background_writer::{CheckpointWriter, WriterReport};
pub use error::{CheckpointError, Damage};
pub use fingerprint::Fingerprint;
pub use load_newest::{LoadedSnapshot, is_resumable, load};
pub use snapshot_files::{Checkpoint, snapshot_exists};

/// Bytes that do not change while anybody holds them.
pub trait SnapshotPart: Send + Sync {
    /// The bytes, in pieces; only their order counts.
    fn pieces(&self) -> Vec<&[u8]>;
}

impl SnapshotPart for Vec<u8> {
    fn pieces(&self) -> Vec<&[u8]> {
        vec![self]
    }
}

/// All that is needed to go on.
#[derive(Clone, Default)]
pub struct Snapshot {
    /// What was there before and still is comes first, in the same order: it is not written again.
    pub lasting: Vec<Arc<dyn SnapshotPart>>,
    pub fresh: Vec<u8>,
}
