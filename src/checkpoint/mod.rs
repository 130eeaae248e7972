//! Checkpoints: persistent progress of a long computation, so that it can resume after an interruption.
//!
//! This module knows nothing of the computation. A [`Snapshot`] is a list of *lasting* parts, which never change once they
//! exist, and a *fresh* part, new every time. A [`Fingerprint`] names everything the computation depends on.
//! A [`CheckpointSession`] keeps the newest snapshot and the one before it, each complete or absent, as its
//! [`CheckpointPolicy`] says, and stops the work on request. Rank 0 alone reads and writes, in the background.

mod background_writer;
mod error;
mod fingerprint;
mod format;
mod load_newest;
mod policy;
mod session;
mod snapshot_files;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use background_writer::WriterReport;
pub use error::CheckpointError;
pub use fingerprint::Fingerprint;
pub use load_newest::SavedParts;
pub use policy::{CheckpointPolicy, ExistingCheckpoint};
pub use session::CheckpointSession;
pub use snapshot_files::snapshot_exists;

/// Immutable bytes of a snapshot.
pub trait SnapshotPart: Send + Sync {
    /// Returns the bytes, in pieces whose boundaries do not matter.
    fn pieces(&self) -> Vec<&[u8]>;
}

impl SnapshotPart for Vec<u8> {
    fn pieces(&self) -> Vec<&[u8]> {
        vec![self]
    }
}

/// Everything needed to resume.
#[derive(Clone, Default)]
pub struct Snapshot {
    /// Parts that the snapshot before had too come first, in the same order; they are not written again.
    pub lasting: Vec<Arc<dyn SnapshotPart>>,
    pub fresh: Vec<u8>,
}
