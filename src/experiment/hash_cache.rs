//! A cache of file hashes, so that unchanged files are not read again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::ExperimentError;
use super::file_hash::{hash_file, hash_file_alone};
use crate::error::Result;
use crate::store::{Overwrite, StoreError, write_text};
use crate::world::World;

/// The metadata of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileStamp {
    bytes: u64,
    /// The time of the last change, in nanoseconds since 1970.
    modified: u64,
}

impl FileStamp {
    fn at(path: &Path) -> Result<FileStamp> {
        let there = path.metadata().map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => StoreError::NotFound { file: path.into() },
            _ => StoreError::Io { file: path.into(), action: "read it", source },
        })?;
        let modified = there.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let since = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ok(FileStamp { bytes: there.len(), modified: since.as_nanos() as u64 })
    }

    /// Whether any later change shows. Clocks of file systems are coarse: a file that was just written may change without
    /// looking different.
    fn is_settled(self) -> bool {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        now.saturating_sub(Duration::from_nanos(self.modified)) > Duration::from_secs(2)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct CachedHash {
    #[serde(rename = "look")]
    stamp: FileStamp,
    content: String,
}

/// File hashes by path, size and time of the last change; on rank 0.
#[derive(Default)]
pub(super) struct HashCache {
    known: BTreeMap<PathBuf, CachedHash>,
    is_changed: bool,
    /// The inputs as this run found them.
    inputs: BTreeMap<PathBuf, FileStamp>,
}

impl HashCache {
    /// Reads a saved cache. Without one, or with a damaged one, all files are read.
    pub fn read(path: &Path) -> HashCache {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        HashCache { known: serde_json::from_str(&text).unwrap_or_default(), ..HashCache::default() }
    }

    pub fn save(&mut self, path: &Path) -> Result<()> {
        if std::mem::take(&mut self.is_changed) {
            let text =
                serde_json::to_string_pretty(&self.known).expect("paths and numbers can be written as JSON");
            write_text(path, Overwrite::Replace, &format!("{text}\n"))?;
        }
        Ok(())
    }

    /// Returns the hash of an input, on every rank. Collective.
    pub fn input_hash(&mut self, world: &World, path: &Path) -> Result<String> {
        let stamp = world.agree(world.is_root().then(|| FileStamp::at(path)).transpose())?;
        let (bytes, known) = world.broadcast_json(stamp.map(|stamp| {
            self.inputs.insert(path.into(), stamp);
            (stamp.bytes, self.lookup(path, stamp))
        }));
        match known {
            Some(content) => Ok(content),
            None => Ok(self.remember(path, stamp, hash_file(world, path, bytes)?)),
        }
    }

    /// Returns bytes and hash of a file of the output folder. On rank 0.
    pub fn output_hash(&mut self, path: &Path) -> Result<(u64, String)> {
        let stamp = FileStamp::at(path)?;
        let content = match self.lookup(path, stamp) {
            Some(content) => content,
            None => self.remember(path, Some(stamp), hash_file_alone(path, stamp.bytes)?),
        };
        Ok((stamp.bytes, content))
    }

    /// Fails if an input has changed since this run began.
    pub fn check_unchanged(&self) -> Result<()> {
        let changed = self.inputs.iter().find(|(path, stamp)| FileStamp::at(path).ok() != Some(**stamp));
        match changed {
            Some((path, _)) => Err(ExperimentError::Changed { file: path.clone() }.into()),
            None => Ok(()),
        }
    }

    fn lookup(&self, path: &Path, stamp: FileStamp) -> Option<String> {
        let known = self.known.get(&absolute(path))?;
        (known.stamp == stamp).then(|| known.content.clone())
    }

    /// Adds a hash to the cache and returns it.
    fn remember(&mut self, path: &Path, stamp: Option<FileStamp>, content: String) -> String {
        if let Some(stamp) = stamp.filter(|stamp| stamp.is_settled()) {
            self.known.insert(absolute(path), CachedHash { stamp, content: content.clone() });
            self.is_changed = true;
        }
        content
    }
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.into())
}
